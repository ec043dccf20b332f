package io.regatta.node;

import io.vertx.core.Future;

/** A verticle whose work ends by itself, e.g. a trainer: when it does, {@link ServiceMain} ends the process. */
public interface FiniteService {

  /** Completes when the work is done, with what is to be printed of it or null; fails when it failed. */
  Future<?> finished();
}
