package io.regatta.core.reduce;

import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A shard's end that keeps what comes and answers when the test says so. */
final class RecordingShard implements AggregationRounds.Shard {
  final List<Push> pushes = new ArrayList<>();
  final List<Push> alone = new ArrayList<>();
  final List<String> failed = new ArrayList<>();
  /** Thrown by the next {@link #pushAlone}; null: none. */
  RuntimeException fault;
  private final List<CompletableFuture<PushAck>> owed = new ArrayList<>();

  @Override
  public CompletionStage<PushAck> push(Push push) {
    CompletableFuture<PushAck> done = new CompletableFuture<>();
    pushes.add(push);
    owed.add(done);
    return done;
  }

  @Override
  public CompletionStage<PushAck> pushAlone(Push push) {
    if (fault != null) {
      RuntimeException thrown = fault;
      fault = null;
      throw thrown;
    }
    alone.add(push);
    return push(push);
  }

  @Override
  public void failed(String what, Throwable fault) {
    failed.add(what + ": " + fault.getMessage());
  }

  PushAck acknowledge(int i) {
    PushAck ack = new PushAck(i + 1, 0, false, false);
    owed.get(i).complete(ack);
    return ack;
  }

  void refuse(int i, RegattaException error) {
    owed.get(i).completeExceptionally(error);
  }

  List<Integer> ranks(int i) {
    return pushes.get(i).contributors().stream().map(Contributor::rank).toList();
  }
}
