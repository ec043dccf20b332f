package io.regatta.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FairTasksTest {

  /** A flood of ClientHellos of one address, and a member that joins from another. */
  @Test
  void runsOneOfEachOriginInTurn() {
    FairTasks tasks = new FairTasks();
    List<String> run = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      String task = "stranger " + i;
      tasks.add("a stranger", () -> run.add(task));
    }
    tasks.runNext();
    tasks.add("a member", () -> run.add("member 0"));
    tasks.add("a member", () -> run.add("member 1"));
    for (int i = 0; i < 5; i++) {
      tasks.runNext();
    }
    assertThat(run).containsExactly("stranger 0", "stranger 1", "member 0", "stranger 2", "member 1", "stranger 3");
    tasks.add("a member", () -> run.add("member 2"));
    tasks.runNext();
    assertThat(run).endsWith("member 2");
  }
}
