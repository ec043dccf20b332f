package io.regatta.trainer.djl;

import io.regatta.trainer.session.PeerRanks;
import io.regatta.trainer.session.TrainerSession;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/** What is each rank's own, made its mean over the ranks of a collective job. Stateless; model thread. */
final class RankMean {

  private RankMean() {}

  /** In place; all ranks call it, with as many values. */
  static void average(TrainerSession session, PeerRanks peers, float[] values) {
    ByteBuffer all = ByteBuffer.allocateDirect(Math.multiplyExact(values.length, Float.BYTES))
        .order(ByteOrder.LITTLE_ENDIAN);
    FloatBuffer floats = all.asFloatBuffer();
    floats.put(0, values);
    session.await("mean of what is not trained, over the trainers", peers.sum(all));
    Scaling.scale(floats, 0, values.length, 1.0 / session.worldSize());
    floats.get(0, values);
  }
}
