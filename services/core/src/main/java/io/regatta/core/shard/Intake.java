package io.regatta.core.shard;

import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import java.util.List;
import java.util.function.BiConsumer;

/** What a mode does with a push that is neither a repetition nor an announcement. Owned by the shard's thread. */
interface Intake {

  /**
   * Refuses what does not fit; changes nothing.
   *
   * @return the check of what the push holds, still to be made
   */
  RowCheck check(Push push, List<TrainerState> from, String who);

  /**
   * Takes a push in that has been checked, or refuses it and changes nothing: others may have been taken in since.
   *
   * @param checked to its end
   * @param done is called when the mode says so, unless this throws
   * @return what is to be applied now, or null
   */
  Application take(Push push, List<TrainerState> from, String who, RowCheck checked, long sinceMillis,
      BiConsumer<PushAck, Throwable> done);
}
