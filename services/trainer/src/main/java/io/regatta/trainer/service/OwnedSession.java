package io.regatta.trainer.service;

import io.regatta.core.error.RegattaException;
import io.regatta.trainer.session.TrainerSession;

/** A session as its owner, {@link TrainerVerticle}, has it. On the loop, but where it says any thread. */
interface OwnedSession extends TrainerSession {

  /** Steps that this rank has made. Any thread. */
  long step();

  /** Releases the model threads, now and to come. Any thread. */
  void end(RegattaException reason);
}
