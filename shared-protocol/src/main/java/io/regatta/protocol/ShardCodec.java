package io.regatta.protocol;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.memory.HeapBudget;
import io.regatta.protocol.tensor.Kind;
import io.regatta.protocol.tensor.TensorMessage;
import java.util.Iterator;
import java.util.List;

/**
 * Core's pushes and pulls as chunks of tensor frames, and back from an {@link Assembly}. The headers given are those
 * common to all frames of a link (job, generation, shard, rank ...); pure functions, no thread of their own.
 */
final class ShardCodec {

  private ShardCodec() {}

  static Iterator<Outgoing> push(TensorMessage.Builder common, long request, Push push, int chunkBytes) {
    TensorMessage each = common.clone().setKind(Kind.PUSH).setRequest(request).setStep(push.step())
        .setVersion(push.version()).build();
    TensorMessage.Builder first = each.toBuilder().setDenseWanted(push.dense() != null).setFinite(push.finite());
    for (Contributor c : push.contributors()) {
      var of = first.addContributorsBuilder().setRank(c.rank()).setIncarnation(c.incarnation()).setSequence(c.sequence())
          .setWeight(c.weight());
      if (!c.progress().equals(TrainerProgress.NONE)) {
        of.setProgress(ProgressMessages.of(c.progress()));
      }
    }
    Chunks chunks = new Chunks(first.build(), each, chunkBytes);
    push.sparse().forEach(chunks::rows); // first: rows can be refused, and then nothing has been applied
    if (push.dense() != null) {
      chunks.dense(push.dense());
    }
    return chunks;
  }

  /** As far as it has come, without a dense gradient. */
  static Push known(Assembly a) {
    return push(a, null);
  }

  static Push push(Assembly a) {
    return push(a, a.dense());
  }

  /** The header of a push, of whose gradients nothing has come. */
  static Push known(TensorMessage h) {
    return push(h, null, List.of());
  }

  private static Push push(Assembly a, DenseValues dense) {
    return push(a.first(), dense, a.rows());
  }

  private static Push push(TensorMessage h, DenseValues dense, List<SparseRows> rows) {
    return new Push(h.getContributorsList().stream().map(c -> new Contributor(c.getRank(), c.getIncarnation(),
        c.getSequence(), c.getWeight(), ProgressMessages.read(c.getProgress()))).toList(), h.getStep(), h.getVersion(), dense, rows,
        h.getFinite());
  }

  static Iterator<Outgoing> ack(TensorMessage.Builder common, long request, PushAck ack) {
    return Outgoing.one(common.clone().setKind(Kind.PUSH_ACK).setRequest(request).setVersion(ack.version())
        .setStaleness(ack.staleness()).setRepeatedPush(ack.repeatedPush()).setSkippedPush(ack.skippedPush())
        .setChunkCount(1).build());
  }

  static PushAck ack(TensorMessage h) {
    return new PushAck(h.getVersion(), h.getStaleness(), h.getRepeatedPush(), h.getSkippedPush());
  }

  static Iterator<Outgoing> shrunk(TensorMessage.Builder answer, Shrunk shrunk) {
    return Outgoing.one(answer.setKind(Kind.SHRINK_ACK).setShrunk(io.regatta.protocol.tensor.Shrunk.newBuilder()
        .setByScore(shrunk.byScore()).setUnseen(shrunk.unseen()).setExpired(shrunk.expired()).setLeft(shrunk.left()))
        .build());
  }

  static TensorMessage sums(TensorMessage.Builder message, double[] sums) {
    for (double sum : sums) {
      message.addSums(sum);
    }
    return message.build();
  }

  static double[] sums(TensorMessage h) {
    return h.getSumsList().stream().mapToDouble(Double::doubleValue).toArray();
  }

  static Shrunk shrunk(TensorMessage h) {
    io.regatta.protocol.tensor.Shrunk s = h.getShrunk();
    return new Shrunk(s.getByScore(), s.getUnseen(), s.getExpired(), s.getLeft());
  }

  static Iterator<Outgoing> pull(TensorMessage.Builder common, long request, Pull pull, int chunkBytes) {
    TensorMessage each = common.clone().setKind(Kind.PULL).setRequest(request).setStep(pull.minStep())
        .setDenseWanted(pull.dense()).setChangedWanted(pull.changed()).setReadOnly(pull.readOnly()).build();
    Chunks chunks = new Chunks(each, each, chunkBytes);
    for (SparseIds ids : pull.sparse()) {
      chunks.ids(ids);
    }
    return chunks;
  }

  static Pull pull(Assembly a) {
    TensorMessage h = a.first();
    return new Pull(h.getRank(), h.getStep(), h.getDenseWanted(), null, a.ids(), h.getChangedWanted(), h.getReadOnly());
  }

  /**
   * Makes an answer to a pull.
   *
   * @param heap in which its rows count from now on until the last of its frames has been made, or it is dropped
   */
  static Iterator<Outgoing> values(TensorMessage.Builder common, long request, Pulled pulled, int chunkBytes, HeapBudget heap) {
    TensorMessage each = common.clone().setKind(Kind.PULL_VALUES).setRequest(request)
        .setVersion(pulled.version()).setClockLead(pulled.clockLead()).setDenseWanted(pulled.dense() != null).build();
    Chunks chunks = new Chunks(each, each, chunkBytes);
    if (pulled.dense() != null) {
      chunks.own(pulled.dense());
    }
    long bytes = 0;
    for (SparseRows rows : pulled.sparse()) {
      chunks.rows(rows);
      bytes += Long.BYTES * (long) rows.ids().length + Float.BYTES * (long) rows.values().length;
    }
    return chunks.counted(heap, bytes);
  }

  static Pulled values(Assembly a) {
    return new Pulled(a.first().getVersion(), a.dense(), a.rows(), a.first().getClockLead());
  }

  static Iterator<Outgoing> initialize(TensorMessage.Builder common, long request, DenseValues dense, int chunkBytes) {
    TensorMessage each = common.clone().setKind(Kind.INITIALIZE).setRequest(request).setDenseWanted(true).build();
    return new Chunks(each, each, chunkBytes).dense(dense);
  }

  static Iterator<Outgoing> exportSlice(TensorMessage.Builder common, long request, SparseRows rows, boolean last,
      int chunkBytes) {
    TensorMessage each = common.clone().setKind(Kind.EXPORT_ROWS).setRequest(request).setLast(last).build();
    return new Chunks(each, each, chunkBytes).rows(rows);
  }
}
