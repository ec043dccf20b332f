package io.regatta.node;

import io.vertx.core.Future;

/** A verticle whose work ends by itself, e.g. a trainer. When the work ends, {@link ServiceMain} ends the process. */
public interface FiniteService {

  /** Completes when the work is done, with the text to print or null. Fails when the work failed. */
  Future<?> finished();
}
