package io.regatta.training.run;

import io.regatta.core.progress.Progress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * The progress of an elastic job's trainer, whose rank may change. It is displayed from the moment when its rank is the
 * first, with the current phase, because the trainer that displayed it before is lost or has left. Owned by one model
 * thread.
 */
final class FirstRankProgress implements Progress {

  /** The phase whose data are divided anew when trainers join or leave. */
  private static final String TRAINING = "train";

  private final BooleanSupplier first;
  private final IntSupplier trainers;
  /** Number of trainers by which the program divided the amounts of phases. */
  private final int trainersAtFirst;
  private final Supplier<Progress> making;
  private final Map<String, Double> metrics = new LinkedHashMap<>();
  /** Null while this is not the first rank. */
  private Progress shown;
  /** Null if no phase is open. */
  private String phase;
  private String unit;
  private long amount;
  private long done;
  private DoubleSupplier share;
  /** Number of trainers among which the rest of the phase is divided. */
  private int dividedAmong;

  /**
   * Creates the progress of one trainer.
   *
   * @param first returns true if its rank is 0 now
   * @param trainers returns their present number; a program's amounts hold for the number at the start, and are adapted
   *     to this
   * @param making creates the display, when needed
   */
  FirstRankProgress(BooleanSupplier first, IntSupplier trainers, Supplier<Progress> making) {
    this.first = first;
    this.trainers = trainers;
    trainersAtFirst = trainers.getAsInt();
    this.making = making;
  }

  /** Returns the display; null if another trainer displays the job's progress. */
  private Progress shown() {
    if (shown == null && first.getAsBoolean()) {
      shown = making.get();
      if (phase != null) {
        shown.begin(phase, amount, unit);
        shown.behind(done);
        if (share != null) {
          shown.share(share);
        }
        metrics.forEach(shown::metric);
      }
    }
    return shown;
  }

  @Override
  public void begin(String phase, long examples) {
    begin(phase, examples, "examples");
  }

  @Override
  public void begin(String phase, long amount, String unit) {
    Progress before = shown;
    this.phase = phase;
    dividedAmong = trainers.getAsInt();
    this.amount = phase.equals(TRAINING) ? divided(amount, trainersAtFirst, dividedAmong) : amount;
    this.unit = unit;
    done = 0;
    share = null;
    metrics.clear();
    Progress now = shown();
    if (now != null && now == before) { // otherwise the display has begun with this phase
      now.begin(phase, this.amount, unit);
    }
  }

  /**
   * Returns one trainer's amount among {@code now} trainers, given that among {@code before}; an unknown amount stays
   * unknown.
   */
  private static long divided(long amount, int before, int now) {
    return amount < 0 || before == now || now < 1 ? amount : Math.round((double) amount * before / now);
  }

  /** Divides the rest of the phase anew if trainers have joined or left. */
  private void redivide() {
    int now = trainers.getAsInt();
    if (now == dividedAmong || !TRAINING.equals(phase)) {
      return;
    }
    if (amount >= 0) {
      amount = done + divided(Math.max(0, amount - done), dividedAmong, now);
      if (shown != null) {
        shown.resize(amount);
      }
    }
    dividedAmong = now;
  }

  @Override
  public void behind(long amount) {
    done = amount;
    Progress now = shown();
    if (now != null) {
      now.behind(amount);
    }
  }

  @Override
  public void share(DoubleSupplier ofPhase) {
    share = ofPhase;
    Progress now = shown();
    if (now != null) {
      now.share(ofPhase);
    }
  }

  @Override
  public void advance(long examples) {
    redivide();
    Progress now = shown();
    done += examples;
    if (now != null) {
      now.advance(examples);
    }
  }

  @Override
  public void metric(String name, double value) {
    metrics.put(name, value);
    if (shown != null) {
      shown.metric(name, value);
    }
  }

  @Override
  public void saving(String file) {
    Progress now = shown();
    if (now != null) {
      now.saving(file);
    }
  }

  @Override
  public void line(String text) {
    Progress now = shown();
    if (now != null) {
      now.line(text);
    }
  }

  @Override
  public void end() {
    Progress now = shown();
    if (now != null) {
      now.end();
    }
    phase = null;
  }

  @Override
  public void close() {
    if (shown != null) {
      shown.close();
    }
  }
}
