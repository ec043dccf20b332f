package io.regatta.training.trace;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.RowSink;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * A shard link that records its pushes and pulls in a timeline: from the call to the answer, with the shard's work
 * inside. All other calls are passed on. Used as the link is.
 */
final class TracedShardLink implements ShardLink {

  private final ShardLink link;
  private final int shard;
  private final StepTrace trace;

  TracedShardLink(ShardLink link, int shard, StepTrace trace) {
    this.link = link;
    this.shard = shard;
    this.trace = trace;
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    if (!trace.on() || push.sitsOut()) {
      return link.push(push);
    }
    long begin = trace.clock().nanos();
    Map<String, Object> details = details(push.step());
    long rows = push.sparse().stream().mapToLong(r -> r.ids().length).sum();
    details.put("rows", rows);
    details.put("tables", push.sparse().stream().map(SparseRows::table).toList().toString());
    details.put("bytes", 4L * (push.dense() == null ? 0 : push.dense().size())
        + push.sparse().stream().mapToLong(r -> 8L * r.ids().length + 4L * r.values().length).sum());
    return link.push(push).whenComplete((ack, e) -> {
      if (ack != null) {
        details.put("version", ack.version());
        details.put("staleness", ack.staleness());
      }
      trace.span("shard " + shard + ": push", "push, apply, acknowledge", begin, details);
    });
  }

  @Override
  public CompletionStage<Pulled> pull(Pull pull) {
    if (!trace.on()) {
      return link.pull(pull);
    }
    long begin = trace.clock().nanos();
    Map<String, Object> details = details(pull.minStep());
    details.put("rows", pull.sparse().stream().mapToLong(s -> s.ids().length).sum());
    details.put("tables", pull.sparse().stream().map(SparseIds::table).toList().toString());
    details.put("dense", pull.dense());
    return link.pull(pull).whenComplete((pulled, e) -> {
      if (pulled != null) {
        details.put("version", pulled.version());
        details.put("bytes", 4L * (pulled.dense() == null ? 0 : pulled.dense().size())
            + pulled.sparse().stream().mapToLong(r -> 4L * r.values().length).sum());
      }
      trace.span("shard " + shard + ": pull", pull.dense() ? "pull of values" : "pull of rows", begin, details);
    });
  }

  private Map<String, Object> details(long step) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("step", step);
    details.put("shard", shard);
    return details;
  }

  @Override
  public String peer() {
    return link.peer();
  }

  @Override
  public CompletionStage<Long> register(JobSpec job, TrainerId trainer, long step) {
    return link.register(job, trainer, step);
  }

  @Override
  public CompletionStage<Void> initialize(DenseValues dense) {
    return link.initialize(dense);
  }

  @Override
  public CompletionStage<Void> handedOver() {
    return link.handedOver();
  }

  @Override
  public CompletionStage<Shrunk> shrink(long number, boolean endOfDay) {
    return link.shrink(number, endOfDay);
  }

  @Override
  public CompletionStage<Void> leave(boolean succeeded) {
    return link.leave(succeeded);
  }

  @Override
  public CompletionStage<Long> digest() {
    return link.digest();
  }

  @Override
  public CompletionStage<Void> export(String table, RowSink sink) {
    return link.export(table, sink);
  }

  @Override
  public CompletionStage<Void> close() {
    return link.close();
  }
}
