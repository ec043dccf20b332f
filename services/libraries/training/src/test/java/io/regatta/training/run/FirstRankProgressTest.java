package io.regatta.training.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FirstRankProgressTest {

  private final List<String> shown = new ArrayList<>();
  private boolean first;
  private int trainers = 2;
  private final Progress progress = new FirstRankProgress(() -> first, () -> trainers, () -> new Progress() {
    @Override
    public void begin(String phase, long amount, String unit) {
      shown.add("begin " + phase + " " + amount + " " + unit);
    }

    @Override
    public void resize(long amount) {
      shown.add("resize " + amount);
    }

    @Override
    public void behind(long amount) {
      shown.add("behind " + amount);
    }

    @Override
    public void advance(long amount) {
      shown.add("advance " + amount);
    }

    @Override
    public void metric(String name, double value) {
      shown.add(name + " " + value);
    }

    @Override
    public void line(String text) {
      shown.add(text);
    }

    @Override
    public void end() {
      shown.add("end");
    }

    @Override
    public void close() {
      shown.add("close");
    }
  });

  @Test
  void whoBecomesTheFirstRankGoesOnWithThePhaseThatItIsIn() {
    progress.line("not shown");
    progress.begin("train", 100);
    progress.advance(10);
    progress.metric("loss", 0.5);
    assertThat(shown).isEmpty();
    first = true;
    progress.advance(20);
    progress.end();
    progress.begin("test", 7);
    progress.line("pass 0");
    progress.close();
    assertThat(shown).containsExactly("begin train 100 examples", "behind 10", "loss 0.5", "advance 20", "end", "begin test 7 examples",
        "pass 0", "close");
  }

  @Test
  void whoIsTheFirstRankFromTheBeginningShowsEverythingOnce() {
    first = true;
    progress.begin("train", 100);
    progress.advance(20);
    progress.end();
    assertThat(shown).containsExactly("begin train 100 examples", "behind 0", "advance 20", "end");
  }

  @Test
  void dividesTheWorkAnew_whenTrainersComeOrGo() {
    first = true;
    progress.begin("train", 4000);
    progress.advance(500);
    trainers = 4;
    progress.advance(50);
    trainers = 1;
    progress.advance(50);
    progress.begin("train", 4000);
    progress.begin("load", -1);
    trainers = 2;
    progress.advance(1);
    assertThat(shown).containsExactly("begin train 4000 examples", "behind 0", "advance 500", "resize 2250", "advance 50", "resize 7350",
        "advance 50", "begin train 8000 examples", "begin load -1 examples", "advance 1");
  }

  @Test
  void whoNeverIsShowsNothing() {
    progress.begin("train", 100);
    progress.advance(20);
    progress.end();
    progress.close();
    assertThat(shown).isEmpty();
  }
}
