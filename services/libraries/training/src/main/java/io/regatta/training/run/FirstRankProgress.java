package io.regatta.training.run;

import io.regatta.core.progress.Progress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * The progress of an elastic job's trainer, whose rank may become another: shown from the moment on when the rank is the first, with the
 * phase that it is in, because whoever showed it before is lost or has left. Owned by one model thread.
 */
final class FirstRankProgress implements Progress {

  /** Phase whose data are divided anew when trainers come or go. */
  private static final String TRAINING = "train";

  private final BooleanSupplier first;
  private final IntSupplier trainers;
  /** Trainers among which the amounts of phases are divided that the program knows. */
  private final int trainersAtFirst;
  private final Supplier<Progress> making;
  private final Map<String, Double> metrics = new LinkedHashMap<>();
  /** Null: not the first rank so far. */
  private Progress shown;
  /** Null: no phase is open. */
  private String phase;
  private String unit;
  private long amount;
  private long done;
  private DoubleSupplier share;
  /** Trainers among which the rest of the phase is divided. */
  private int dividedAmong;

  /**
   * Of one trainer.
   *
   * @param first whether its rank is 0 now
   * @param trainers how many there are now. The amounts that a program gives to phases are for as many as there are at first, and
   *     follow this number
   * @param making makes what shows it, once it is
   */
  FirstRankProgress(BooleanSupplier first, IntSupplier trainers, Supplier<Progress> making) {
    this.first = first;
    this.trainers = trainers;
    trainersAtFirst = trainers.getAsInt();
    this.making = making;
  }

  /** Null: another trainer shows how far the job is. */
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
    if (now != null && now == before) { // else it has begun with this phase
      now.begin(phase, this.amount, unit);
    }
  }

  /** Returns the part of one among {@code now} trainers, given that of one among {@code before}; what is not known stays so. */
  private static long divided(long amount, int before, int now) {
    return amount < 0 || before == now || now < 1 ? amount : Math.round((double) amount * before / now);
  }

  /** Divides what is left of the phase anew if trainers have come or gone. */
  private void follow() {
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
    follow();
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
