package io.regatta.core.reduce;

import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** A shard's end that keeps what comes and answers when the test says so. */
final class RecordingShard implements AggregationRounds.Shard {
  final List<Push> pushes = new ArrayList<>();
  final List<Push> alone = new ArrayList<>();
  private final List<BiConsumer<PushAck, RegattaException>> owed = new ArrayList<>();

  @Override
  public void push(Push push, BiConsumer<PushAck, RegattaException> done) {
    pushes.add(push);
    owed.add(done);
  }

  @Override
  public void pushAlone(Push push, BiConsumer<PushAck, RegattaException> done) {
    alone.add(push);
    push(push, done);
  }

  PushAck acknowledge(int i) {
    PushAck ack = new PushAck(i + 1, 0, false, false);
    owed.get(i).accept(ack, null);
    return ack;
  }

  void refuse(int i, RegattaException error) {
    owed.get(i).accept(null, error);
  }

  List<Integer> ranks(int i) {
    return pushes.get(i).contributors().stream().map(Contributor::rank).toList();
  }
}
