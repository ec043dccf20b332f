package io.regatta.protocol.shard;

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
import io.regatta.protocol.message.ProgressMessages;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.tensor.ExportRows;
import io.regatta.protocol.tensor.Initialize;
import io.regatta.protocol.tensor.PullValues;
import io.regatta.protocol.tensor.ShrinkAck;
import io.regatta.protocol.tensor.TensorMessage;
import java.util.Iterator;
import java.util.List;

/**
 * Core's pushes and pulls as chunks of tensor frames, and back from an {@link ShardAssembly}. The builder given to each method has the
 * header of its frames (request, job, generation, shard, rank ...), and is the method's own from then on. Pure functions, no thread
 * of their own.
 */
final class ShardCodec {

  private ShardCodec() {}

  static Iterator<Outgoing> push(TensorMessage.Builder header, Push push, int chunkBytes) {
    var body = io.regatta.protocol.tensor.Push.newBuilder().setStep(push.step()).setVersion(push.version()).setFinite(push.finite());
    for (Contributor c : push.contributors()) {
      var of = io.regatta.protocol.tensor.Contributor.newBuilder().setRank(c.rank()).setIncarnation(c.incarnation())
          .setSequence(c.sequence()).setWeight(c.weight());
      if (!c.progress().equals(TrainerProgress.NONE)) {
        of.setProgress(ProgressMessages.of(c.progress()));
      }
      body.addContributors(of.build());
    }
    Chunks chunks = new Chunks(header.setPush(body.build()),
        others -> others.setPush(io.regatta.protocol.tensor.Push.getDefaultInstance()), chunkBytes);
    push.sparse().forEach(chunks::rows); // first: rows can be refused, and then nothing has been applied
    if (push.dense() != null) {
      chunks.dense(push.dense());
    }
    return chunks;
  }

  /** As far as it has come, without a dense gradient. */
  static Push known(ShardAssembly a) {
    return push(a, null);
  }

  static Push push(ShardAssembly a) {
    return push(a, a.dense());
  }

  /** The header of a push, of whose gradients nothing has come. */
  static Push known(TensorMessage h) {
    return push(h, null, List.of());
  }

  private static Push push(ShardAssembly a, DenseValues dense) {
    return push(a.first(), dense, a.rows());
  }

  private static Push push(TensorMessage h, DenseValues dense, List<SparseRows> rows) {
    io.regatta.protocol.tensor.Push body = h.getPush();
    return new Push(body.getContributorsList().stream().map(c -> new Contributor(c.getRank(), c.getIncarnation(),
        c.getSequence(), c.getWeight(), ProgressMessages.read(c.getProgress()))).toList(), body.getStep(), body.getVersion(), dense,
        rows, body.getFinite());
  }

  static Iterator<Outgoing> ack(TensorMessage.Builder header, PushAck ack) {
    return Outgoing.one(header.setPushAck(io.regatta.protocol.tensor.PushAck.newBuilder().setVersion(ack.version())
        .setStaleness(ack.staleness()).setRepeated(ack.repeatedPush()).setSkipped(ack.skippedPush()).build()).build());
  }

  static PushAck ack(TensorMessage h) {
    io.regatta.protocol.tensor.PushAck body = h.getPushAck();
    return new PushAck(body.getVersion(), body.getStaleness(), body.getRepeated(), body.getSkipped());
  }

  static Iterator<Outgoing> shrunk(TensorMessage.Builder header, Shrunk shrunk) {
    return Outgoing.one(header.setShrinkAck(ShrinkAck.newBuilder().setByScore(shrunk.byScore()).setUnseen(shrunk.unseen())
        .setExpired(shrunk.expired()).setLeft(shrunk.left())).build());
  }

  static Shrunk shrunk(TensorMessage h) {
    ShrinkAck s = h.getShrinkAck();
    return new Shrunk(s.getByScore(), s.getUnseen(), s.getExpired(), s.getLeft());
  }

  static Iterator<Outgoing> pull(TensorMessage.Builder header, Pull pull, int chunkBytes) {
    header.setPull(io.regatta.protocol.tensor.Pull.newBuilder().setMinStep(pull.minStep()).setDense(pull.dense())
        .setChanged(pull.changed()).setReadOnly(pull.readOnly()).build());
    Chunks chunks = new Chunks(header, others -> others.setPull(io.regatta.protocol.tensor.Pull.getDefaultInstance()), chunkBytes);
    for (SparseIds ids : pull.sparse()) {
      chunks.ids(ids);
    }
    return chunks;
  }

  static Pull pull(ShardAssembly a) {
    io.regatta.protocol.tensor.Pull body = a.first().getPull();
    return new Pull(a.first().getRank(), body.getMinStep(), body.getDense(), null, a.ids(), body.getChanged(), body.getReadOnly());
  }

  /**
   * Makes an answer to a pull.
   *
   * @param heap in which its rows count from now on until the last of its frames has been made, or it is dropped
   */
  static Iterator<Outgoing> values(TensorMessage.Builder header, Pulled pulled, int chunkBytes, HeapBudget heap) {
    header.setPullValues(PullValues.newBuilder().setVersion(pulled.version()).setClockLead(pulled.clockLead()).build());
    Chunks chunks = new Chunks(header, others -> others.setPullValues(PullValues.getDefaultInstance()), chunkBytes);
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

  static Pulled values(ShardAssembly a) {
    PullValues body = a.first().getPullValues();
    return new Pulled(body.getVersion(), a.dense(), a.rows(), body.getClockLead());
  }

  static Iterator<Outgoing> initialize(TensorMessage.Builder header, DenseValues dense, int chunkBytes) {
    return new Chunks(header.setInitialize(Initialize.getDefaultInstance()), others -> { }, chunkBytes).dense(dense);
  }

  static Iterator<Outgoing> exportSlice(TensorMessage.Builder header, SparseRows rows, boolean last, int chunkBytes) {
    header.setExportRows(ExportRows.newBuilder().setLast(last));
    return new Chunks(header, others -> others.setExportRows(ExportRows.getDefaultInstance()), chunkBytes).rows(rows);
  }
}
