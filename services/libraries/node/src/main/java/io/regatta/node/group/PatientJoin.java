package io.regatta.node.group;

import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Deadline;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.node.directory.RepeatedCall;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.NoResponseException;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/**
 * A join of a group that also waits for the rendezvous. A join that has not reached it is repeated until the node's
 * ready timeout. In an elastic group a join, and a wait for its next generation, outlives broken connections as well:
 * the rendezvous recognizes it. Meanwhile the rendezvous is asked now and then whether it is there, since its answer
 * may take any time. Owned by its {@link GroupMembership}, on its loop.
 */
final class PatientJoin {
  private static final long HEAR_MILLIS = 5_000;

  private final Loop loop;
  private final RendezvousClient calls;
  private final JoinRequest request;
  private final Deadline deadline;
  private final boolean elastic;
  private final RepeatedCall<JoinReply> join;

  /**
   * Creates a join that is not requested yet; its wait begins.
   *
   * @param words for messages
   * @param timeout sent to the rendezvous: how long to wait for others
   * @param elastic whether the rendezvous recognizes a join that is repeated
   * @param missing the members that the rendezvous waits for
   */
  PatientJoin(MemberContext process, RendezvousClient calls, JoinRequest request, RepeatedCall.Words words, Duration timeout, boolean elastic,
      Supplier<Future<List<Wait.Peer>>> missing) {
    loop = process.loop();
    this.calls = calls;
    this.request = request;
    deadline = Deadline.in(loop.clock(), timeout);
    this.elastic = elastic;
    join = new RepeatedCall<>(loop, process.waits(), words, process.patience(),
        elastic ? NoResponseException::isCauseOf : NoResponseException::isBeforeSending, missing, this::attempt);
  }

  /**
   * Makes the request; to be called once. Fails as {@link RendezvousClient#join(JoinRequest)}, and with
   * {@code PeerLost} when patience is at its end.
   */
  Future<JoinReply> ask() {
    if (!elastic) { // an answer that never comes is not asked for again
      return join.start();
    }
    Timer hearing = loop.every(HEAR_MILLIS, () -> calls.groups(request.getGroup()).onSuccess(v -> join.heard()));
    return join.start().onComplete(done -> hearing.cancel());
  }

  private Future<JoinReply> attempt() {
    return calls.join(request.toBuilder().setTimeoutMs(Math.max(1, deadline.leftMillis())).build());
  }

  /** Stops asking. An answer that is on its way still arrives, so that an unwanted seat can be given up. */
  void giveUp(RegattaException why) {
    join.giveUp(why);
  }
}
