package io.regatta.core.shard;

import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The handling of pushes in one mode, for those that are neither a repetition nor an announcement. Owned by the shard's
 * thread.
 */
interface PushHandler {

  /**
   * Refuses a push that does not fit; changes nothing.
   *
   * @return the check of what the push holds, still to be made
   */
  RowCheck check(Push push, List<TrainerState> from, String who);

  /**
   * Takes in a push that has been checked, or refuses it and changes nothing: others may have been taken in since the
   * check.
   *
   * @param checked the check, run to its end
   * @param done called when the mode acknowledges the push, unless this throws
   * @return what is to be applied now, or null
   */
  PushApplication take(Push push, List<TrainerState> from, String who, RowCheck checked, long sinceMillis,
      BiConsumer<PushAck, Throwable> done);
}
