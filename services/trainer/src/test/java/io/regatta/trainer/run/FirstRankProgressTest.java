package io.regatta.trainer.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.trainer.Progress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FirstRankProgressTest {

  private final List<String> shown = new ArrayList<>();
  private boolean first;
  private final Progress progress = new FirstRankProgress(() -> first, () -> new Progress() {
    @Override
    public void begin(String phase, long amount, String unit) {
      shown.add("begin " + phase + " " + amount + " " + unit);
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
  void whoNeverIsShowsNothing() {
    progress.begin("train", 100);
    progress.advance(20);
    progress.end();
    progress.close();
    assertThat(shown).isEmpty();
  }
}
