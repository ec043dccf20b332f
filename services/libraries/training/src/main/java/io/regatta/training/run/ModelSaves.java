package io.regatta.training.run;

import java.util.concurrent.CompletableFuture;

/**
 * The saves of a run's model. They mark the time in which a stop of the trainer would lose a model that is being saved,
 * or is trained and about to be saved. Thread-safe.
 */
final class ModelSaves {

  private final KnownModels known = new KnownModels();
  private CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
  private int open;
  private boolean trained;
  private String saved = "";

  /** Begins a save; each is followed by {@link #end}. */
  synchronized void begin() {
    if (open++ == 0) {
      done = new CompletableFuture<>();
    }
  }

  /** Ends a save, in any outcome. */
  void end() {
    CompletableFuture<Void> over = null;
    synchronized (this) {
      if (--open == 0) {
        over = done;
      }
    }
    if (over != null) {
      over.complete(null);
    }
  }

  /**
   * Notes that this rank's training is over: until {@link #over} its model is about to be saved. Repeating it changes
   * nothing.
   */
  synchronized void trained() {
    if (!trained) {
      trained = true;
      begin();
    }
  }

  /** Notes that the run has ended on this rank. */
  void over() {
    boolean was;
    synchronized (this) {
      was = trained;
      trained = false;
    }
    if (was) {
      end();
    }
  }

  /** Returns the models in the job's directories as this rank knows them. */
  KnownModels known() {
    return known;
  }

  /** Notes the directory of a complete model. */
  synchronized void saved(String dir) {
    saved = dir;
  }

  /** Returns the directory of the last complete model; empty if there is none. */
  synchronized String saved() {
    return saved;
  }

  /**
   * Returns a future that completes when no model is being saved or about to be saved; it is complete while this rank
   * trains.
   */
  synchronized CompletableFuture<Void> underWay() {
    return done;
  }
}
