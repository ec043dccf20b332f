package io.regatta.trainer;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/** Owner of one rank: its membership, links and the exchange in flight, on its event loop. */
public final class TrainerVerticle extends VerticleBase {

  /** Completes when the program has ended on this rank and the rank has left; fails with what ended it. */
  public Future<RunResult> result() {
    throw new UnsupportedOperationException("TODO trainer helper");
  }
}
