package io.regatta.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.protocol.rendezvous.LeaseReply;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkQueuesTest {
  private static final List<String> FILES = List.of("f0", "f1", "f2");

  @Test
  void whenMembersAskInTurn_thenEachItemGoesOutOnceAndTheEndIsTold() {
    VirtualGroups g = VirtualGroups.formed(2);
    assertThat(g.lease(0, FILES).getItem()).isEqualTo("f0");
    assertThat(g.lease(1, FILES).getItem()).isEqualTo("f1");
    assertThat(g.lease(0, FILES, "f0").getItem()).isEqualTo("f2");
    LeaseReply nothingNow = g.lease(1, FILES, "f1");
    assertThat(nothingNow.getItem()).isEmpty();
    assertThat(nothingNow.getFinished()).isFalse();
    assertThat(g.lease(0, FILES, "f2").getFinished()).isTrue();
    assertThat(g.lease(1, FILES).getFinished()).isTrue();
  }

  @Test
  void whenAMemberIsLost_thenItsUnfinishedItemsGoOutAgainFirst() {
    VirtualGroups g = VirtualGroups.formed(2);
    g.lease(1, FILES);
    g.lease(1, FILES, "f0");
    assertThat(g.lease(0, FILES).getItem()).isEqualTo("f2");
    g.pass(VirtualGroups.LEASE + VirtualGroups.TICK, 0);
    assertThat(g.lease(0, FILES, "f2").getItem()).isEqualTo("f1");
    assertThatThrownBy(() -> g.lease(1, FILES, "f1")).isInstanceOf(StaleGeneration.class);
    assertThat(g.lease(0, FILES, "f1").getFinished()).isTrue();
  }

  @Test
  void whenAnAnswerIsLost_thenItsItemGoesOutToTheSameMemberAgain() {
    VirtualGroups g = VirtualGroups.formed(2);
    assertThat(g.lease(0, FILES).getItem()).isEqualTo("f0");
    assertThat(g.lease(0, FILES).getItem()).as("it does not know of f0").isEqualTo("f0");
    assertThat(g.lease(0, FILES, "f0").getItem()).isEqualTo("f1");
    assertThat(g.lease(0, FILES, "f0").getItem()).as("the report, repeated").isEqualTo("f1");
    assertThat(g.lease(0, FILES, List.of(), List.of("f1")).getItem()).as("beside f1").isEqualTo("f2");
    assertThat(g.lease(1, FILES).getItem()).as("nothing of rank 0's").isEmpty();
    assertThat(g.lease(0, FILES, List.of("f1"), List.of("f2")).getFinished()).isFalse();
    assertThatThrownBy(() -> g.lease(0, FILES, List.of(), List.of("f1"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("f1");
    assertThatThrownBy(() -> g.lease(1, FILES, List.of(), List.of("f2"))).isInstanceOf(InvalidInput.class);
    assertThat(g.lease(0, FILES, "f2").getFinished()).isTrue();
  }

  @Test
  void whenAMemberLeaves_thenItsUnfinishedItemsGoOutAgain() {
    VirtualGroups g = VirtualGroups.formed(2);
    g.lease(0, FILES);
    g.leave(0);
    assertThat(g.lease(1, FILES).getItem()).isEqualTo("f0");
  }

  @Test
  void whenAReportIsWrong_thenItIsRefusedAndNothingChanges() {
    VirtualGroups g = VirtualGroups.formed(2);
    assertThatThrownBy(() -> g.lease(0, FILES, "f0")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("not handed out");
    g.lease(0, FILES);
    assertThatThrownBy(() -> g.lease(1, FILES, "f0")).isInstanceOf(InvalidInput.class).hasMessageContaining("rank 0");
    assertThatThrownBy(() -> g.lease(1, List.of("f0"))).isInstanceOf(Conflict.class).hasMessageContaining("same list");
    assertThatThrownBy(() -> g.lease(1, FILES, "f9")).isInstanceOf(InvalidInput.class);
    assertThat(g.lease(1, FILES).getItem()).isEqualTo("f1");
    assertThat(g.lease(0, FILES, "f0").getItem()).isEqualTo("f2");
    assertThat(g.lease(0, FILES, List.of("f0"), List.of("f2")).getItem()).as("reported again").isEmpty();
  }

  @Test
  void whenTheListIsEmpty_thenItIsFinishedAtOnce() {
    VirtualGroups g = VirtualGroups.formed(1);
    assertThat(g.lease(0, List.of()).getFinished()).isTrue();
  }
}
