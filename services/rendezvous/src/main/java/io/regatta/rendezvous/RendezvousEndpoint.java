package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.call.CallRegistry;
import io.regatta.protocol.call.ServerCall;
import io.regatta.protocol.rendezvous.AddReply;
import io.regatta.protocol.rendezvous.CompareAndSetReply;
import io.regatta.protocol.rendezvous.DeleteReply;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.GetReply;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.HeartbeatReply;
import io.regatta.protocol.rendezvous.LeaveReply;
import io.regatta.protocol.rendezvous.RendezvousGrpcService;
import io.regatta.protocol.rendezvous.SetReply;
import io.regatta.protocol.rendezvous.WaitReply;
import io.regatta.protocol.rendezvous.WatchRequest;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;

/**
 * The adapter from the gRPC service of rendezvous.proto to {@link Groups}: requests in, answers and statuses out. Used
 * on the verticle's event loop.
 */
final class RendezvousEndpoint {
  private final Groups groups;
  /** The reply that is being given to all waiting callers, and its bytes. */
  private GatherReply reply;
  private Buffer frame;

  RendezvousEndpoint(Groups groups) {
    this.groups = groups;
  }

  void bind(CallRegistry calls) {
    calls.later(RendezvousGrpcService.Join, (r, done) -> {
      if (r.getIncarnation() != 0) {
        groups.requireSecret(r.getGroup(), r.getIncarnation(), r.getSecret());
      }
      return groups.join(r, (joined, error) -> done.accept(error != null ? null
          : joined.toBuilder().setSecret(groups.secret(joined.getIncarnation())).build(), error));
    });
    calls.call(RendezvousGrpcService.Gather, (r, call) -> groups.gather(r, (all, error, sent) -> {
      if (error != null) {
        call.fail(error);
        sent.run();
      } else {
        end(call, all).onComplete(v -> sent(all, sent));
      }
    }));
    calls.later(RendezvousGrpcService.Wait, (r, done) -> groups.await(r.getGroup(), r.getKeysList(),
        r.getTimeoutMs(), (found, error) -> done.accept(error == null ? WaitReply.getDefaultInstance() : null, error)));
    calls.atOnce(RendezvousGrpcService.Leave, r -> {
      groups.requireSecret(r.getGroup(), r.getIncarnation(), r.getSecret());
      groups.leave(r.getGroup(), r.getRank(), r.getIncarnation(), r.getEnded(), r.getSucceeded());
      return LeaveReply.getDefaultInstance();
    });
    calls.atOnce(RendezvousGrpcService.Heartbeat, r -> HeartbeatReply.newBuilder()
        .setGeneration(groups.heartbeat(r.getGroup(), r.getRank(), r.getIncarnation(), r.getStep(), r.getExamples())).build());
    calls.atOnce(RendezvousGrpcService.Set, r -> {
      groups.set(r.getGroup(), r.getKey(), r.getValue());
      return SetReply.getDefaultInstance();
    });
    calls.atOnce(RendezvousGrpcService.Get, r -> groups.get(r.getGroup(), r.getKey())
        .map(value -> GetReply.newBuilder().setFound(true).setValue(value).build())
        .orElse(GetReply.getDefaultInstance()));
    calls.atOnce(RendezvousGrpcService.Add, r -> AddReply.newBuilder()
        .setValue(groups.add(r.getGroup(), r.getKey(), r.getDelta())).build());
    calls.atOnce(RendezvousGrpcService.Delete, r -> DeleteReply.newBuilder()
        .setDeleted(groups.delete(r.getGroup(), r.getKey())).build());
    calls.atOnce(RendezvousGrpcService.CompareAndSet, r -> CompareAndSetReply.newBuilder()
        .setSet(groups.compareAndSet(r.getGroup(), r.getKey(), r.hasExpected() ? r.getExpected() : null, r.getValue()))
        .build());
    calls.atOnce(RendezvousGrpcService.Lease, groups::lease);
    calls.atOnce(RendezvousGrpcService.Groups, r -> groups.status(r.getGroup(), r.getSince()));
    calls.call(RendezvousGrpcService.Watch, (r, call) -> groups.watch(r.getGroup(),
        groups.isSecret(r.getIncarnation(), r.getSecret()) ? r.getIncarnation() : 0,
        new ViewStream(call, r.getDifferences())));
  }

  /** Returns the reply's frame. All callers of a gather are answered one after the other: the frame is made once. */
  private Buffer framed(GatherReply of, ServerCall<?, GatherReply> call) {
    if (reply != of) {
      frame = call.framed(of);
      reply = of;
    }
    return frame;
  }

  private Future<Void> end(ServerCall<?, GatherReply> call, GatherReply with) {
    try {
      return call.endWith(framed(with, call));
    } catch (RuntimeException | Error e) { // no memory for the frame, say: the caller must not wait for it
      call.fail(e);
      return Future.succeededFuture();
    }
  }

  private void sent(GatherReply of, Runnable sent) {
    if (reply == of) {
      reply = null;
      frame = null;
    }
    sent.run();
  }

  /** A watcher at the other end of a stream. A slow one is sent the changes once it has room: nothing piles up here. */
  private static final class ViewStream implements Watcher {
    private final ServerCall<WatchRequest, GroupView> call;
    private final boolean differences;
    /** Number of the view that was sent last; 0: none, or whole views are sent. */
    private long sent;
    /** The views of the group, while the latest has not been sent. */
    private Views unsent;

    ViewStream(ServerCall<WatchRequest, GroupView> call, boolean differences) {
      this.call = call;
      this.differences = differences;
      call.drainHandler(v -> drained());
    }

    @Override
    public void changed(Views views) {
      if (call.isOver()) {
        return;
      }
      if (call.writeQueueFull()) {
        unsent = views;
      } else {
        call.write(next(views));
      }
    }

    private GroupView next(Views views) {
      GroupView view = views.since(sent);
      sent = differences ? view.getNumber() : 0;
      return view;
    }

    private void drained() {
      Views views = unsent;
      unsent = null;
      if (views != null) {
        changed(views);
      }
    }

    @Override
    public void end(RegattaException reason) {
      if (reason != null) {
        call.fail(reason);
      } else if (unsent != null) {
        call.end(next(unsent));
      } else {
        call.end();
      }
    }
  }
}
