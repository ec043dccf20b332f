package io.regatta.protocol;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.shard.SparseRows;
import io.regatta.core.shard.TrainerId;
import io.regatta.protocol.ShardStreamHandler.ExportCursor;
import io.regatta.protocol.ShardStreamHandler.Origin;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorFrame;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.tensor.Kind;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The server's side of one tensor stream: puts requests together from their chunks, calls a {@link ShardStreamHandler},
 * and sends the answers as fast as the peer takes them. Owned by the stream's context. While as many requests are in
 * progress as the options allow, nothing more is read. An error ends the stream with a status that says why; requests
 * of other streams are not touched.
 */
public final class ShardStreamSession {
  private final TensorStream stream;
  private final ShardStreamHandler handler;
  private final StreamOptions options;
  private final FrameSender sender;
  private final Map<Long, Assembly> open = new HashMap<>();
  private Origin registered;
  private int inProgress;
  private boolean over;

  /** Takes the stream over and serves it until it ends. */
  public static void serve(TensorStream stream, ShardStreamHandler handler, StreamOptions options) {
    new ShardStreamSession(stream, handler, options);
  }

  private ShardStreamSession(TensorStream stream, ShardStreamHandler handler, StreamOptions options) {
    this.stream = stream;
    this.handler = handler;
    this.options = options;
    sender = new FrameSender(stream, e -> close());
    stream.exceptionHandler(e -> close());
    stream.endHandler(v -> ended());
    stream.handler(this::received);
  }

  private void ended() {
    if (over) {
      return;
    }
    if (open.isEmpty()) {
      stream.end();
    } else {
      stream.fail(new InvalidInput("the stream ended in the middle of " + open.size()
          + " request(s) whose chunks were incomplete; nothing of them was applied"));
    }
    close();
  }

  private void close() {
    if (!over) {
      over = true;
      open.clear();
      if (registered != null) {
        handler.closed(registered);
      }
    }
  }

  private void fail(Throwable cause) {
    if (!over) {
      stream.fail(ErrorMapping.regatta(cause));
      close();
    }
  }

  private void received(TensorFrame frame) {
    if (over) {
      return;
    }
    try {
      TensorMessage h = frame.header();
      Assembly assembly = open.get(h.getRequest());
      if (assembly == null) {
        if (open.size() >= options.maxRequests()) {
          throw new InvalidInput("more than " + options.maxRequests() + " requests are incomplete on one stream; send "
              + "the chunks of one request together");
        }
        assembly = new Assembly(h, options.maxRequestBytes());
        open.put(h.getRequest(), assembly);
      }
      if (h.getKind() == Kind.EXPORT || assembly.add(frame)) {
        open.remove(h.getRequest());
        dispatch(assembly);
      }
    } catch (RegattaException e) {
      fail(e);
    }
  }

  private void dispatch(Assembly a) {
    TensorMessage h = a.first();
    Origin from = new Origin(h.getJob(), h.getShard(), h.getShardIncarnation(), h.getGeneration(),
        new TrainerId(h.getRank(), h.getIncarnation()));
    if (registered == null && h.getKind() != Kind.REGISTER) {
      throw new InvalidInput("the first message of a tensor stream must be REGISTER, but is " + h.getKind());
    }
    TensorMessage.Builder answer = TensorMessage.newBuilder().setJob(h.getJob()).setShard(h.getShard())
        .setRank(h.getRank()).setStep(h.getStep()).setRequest(h.getRequest()).setChunkCount(1);
    switch (h.getKind()) {
      case REGISTER -> {
        registered = from;
        serve(handler.register(from, JobSpecs.ofProto(h.getJob(), h.getRegister())), v -> one(answer, Kind.REGISTER_ACK));
      }
      case INITIALIZE -> serve(handler.initialize(from, a.dense() == null ? new float[0] : a.dense()),
          v -> one(answer, Kind.INITIALIZE_ACK));
      case PUSH -> serve(handler.push(from, ShardCodec.push(a)),
          ack -> List.of(ShardCodec.ack(answer, h.getRequest(), ack)).iterator());
      case PULL -> serve(handler.pull(from, ShardCodec.pull(a)),
          pulled -> ShardCodec.values(answer, h.getRequest(), pulled, options.chunkBytes()));
      case LEAVE -> serve(handler.leave(from), v -> one(answer, Kind.LEAVE_ACK));
      case EXPORT -> {
        begin();
        handler.export(from, h.getTable()).onComplete(r -> {
          if (r.failed()) {
            fail(r.cause());
          } else {
            export(answer, h.getTable(), r.result(), r.result().next());
          }
        });
      }
      default -> throw new InvalidInput(h.getKind() + " is not a request; send REGISTER, INITIALIZE, PUSH, PULL, EXPORT "
          + "or LEAVE");
    }
  }

  private static Iterator<TensorFrame> one(TensorMessage.Builder answer, Kind kind) {
    return List.of(TensorFrame.of(answer.setKind(kind).build())).iterator();
  }

  private <T> void serve(Future<T> result, Function<T, Iterator<TensorFrame>> frames) {
    begin();
    result.onComplete(r -> {
      done();
      if (r.failed()) {
        fail(r.cause());
      } else if (!over) {
        sender.send(frames.apply(r.result()));
      }
    });
  }

  /** Sends one slice, and the next one in a later turn when this one is on its way. */
  private void export(TensorMessage.Builder answer, String table, ExportCursor cursor, SparseRows slice) {
    if (over) {
      done();
      return;
    }
    SparseRows rows = slice == null ? new SparseRows(table, new long[0], new float[0]) : slice;
    sender.send(ShardCodec.exportSlice(answer, answer.getRequest(), rows, slice == null, options.chunkBytes()));
    if (slice == null) {
      done();
      return;
    }
    Handler<Void> next = v -> export(answer, table, cursor, cursor.next());
    whenSent(next);
  }

  private void whenSent(Handler<Void> next) {
    if (over || sender.queued() == 0) {
      stream.context().runOnContext(next);
    } else {
      sender.whenEmpty(() -> stream.context().runOnContext(next));
    }
  }

  private void begin() {
    if (++inProgress == options.maxRequests()) {
      stream.pause();
    }
  }

  private void done() {
    if (inProgress-- == options.maxRequests()) {
      stream.resume();
    }
  }
}
