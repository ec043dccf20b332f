package io.regatta.protocol.client;

import com.google.protobuf.ByteString;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.reduce.Elementwise;
import io.regatta.protocol.message.Float64s;
import io.regatta.protocol.network.Calls;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.network.Watch;
import io.regatta.protocol.rendezvous.AddRequest;
import io.regatta.protocol.rendezvous.CompareAndSetRequest;
import io.regatta.protocol.rendezvous.DeleteRequest;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.GatherRequest;
import io.regatta.protocol.rendezvous.GetRequest;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.regatta.protocol.rendezvous.GroupsRequest;
import io.regatta.protocol.rendezvous.HeartbeatRequest;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.LeaseReply;
import io.regatta.protocol.rendezvous.LeaseRequest;
import io.regatta.protocol.rendezvous.LeaveRequest;
import io.regatta.protocol.rendezvous.RendezvousGrpcClient;
import io.regatta.protocol.rendezvous.SetRequest;
import io.regatta.protocol.rendezvous.WaitRequest;
import io.regatta.protocol.rendezvous.WatchRequest;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.util.List;
import java.util.Optional;

/**
 * A client of the rendezvous for its members. One connection per client: heartbeats and waits of one member should not
 * share a client with bulky calls. Futures complete on the caller's context and fail with
 * {@link io.regatta.core.error.RegattaException}s.
 */
public final class RendezvousClient {
  private final Calls calls;

  /** Creates a client that connects at its first call. */
  public RendezvousClient(Network network, String host, int port) {
    calls = network.calls(host, port, "rendezvous at " + host + ":" + port);
  }

  /**
   * Joins a group and waits until it is complete.
   *
   * @param rank wanted, or -1 for any
   * @param member name of this life of this process, unique
   * @param endpoint host:port where peers reach it; may be empty
   * @return fails with {@code Conflict} if the rank is held, {@code PeerLost} naming the missing ranks at the timeout
   */
  public Future<JoinReply> join(String group, int worldSize, int rank, String member, String endpoint,
      long timeoutMillis) {
    return calls.call(RendezvousGrpcClient.Join, JoinRequest.newBuilder().setGroup(group).setWorldSize(worldSize)
        .setRank(rank).setMember(member).setEndpoint(endpoint).setTimeoutMs(timeoutMillis).build());
  }

  /** Joins an elastic group, or its next generation, as rendezvous.proto describes. */
  public Future<JoinReply> join(JoinRequest request) {
    return calls.call(RendezvousGrpcClient.Join, request);
  }

  /** Leaves the group for good, before the end of its work. */
  public Future<Void> leave(String group, int rank, long incarnation, ByteString secret) {
    return leave(group, rank, incarnation, secret, false, false);
  }

  /**
   * Leaves the group for good.
   *
   * @param secret of the answer to the member's join
   * @param ended elastic: the group's work is done, so that newcomers are refused from now on
   * @param succeeded this member's run has ended with success
   */
  public Future<Void> leave(String group, int rank, long incarnation, ByteString secret, boolean ended,
      boolean succeeded) {
    return calls.call(RendezvousGrpcClient.Leave, LeaveRequest.newBuilder().setGroup(group).setRank(rank)
        .setIncarnation(incarnation).setSecret(secret).setEnded(ended).setSucceeded(succeeded).build()).mapEmpty();
  }

  /** Renews the lease and reports this member's step; returns the group's generation. */
  public Future<Long> heartbeat(String group, int rank, long incarnation, long step) {
    return heartbeat(group, rank, incarnation, step, 0);
  }

  /** Renews the lease, with the number of examples that this member has trained so far. */
  public Future<Long> heartbeat(String group, int rank, long incarnation, long step, long examples) {
    return calls.call(RendezvousGrpcClient.Heartbeat, HeartbeatRequest.newBuilder().setGroup(group).setRank(rank)
        .setIncarnation(incarnation).setStep(step).setExamples(examples).build()).map(r -> r.getGeneration());
  }

  /**
   * Watches a group: calls back, on the caller's context, with the group's view now and at every change; ends when the
   * group does.
   */
  public Watch watch(String group, Handler<GroupView> view) {
    return calls.watch(RendezvousGrpcClient.Watch, WatchRequest.newBuilder().setGroup(group).build(), view);
  }

  /** Follows a group by differences, for a process that is no member. */
  public Watch follow(String group, KnownGroup known, Handler<GroupView> change) {
    return follow(group, 0, ByteString.EMPTY, known, change);
  }

  /**
   * Follows a group by differences, as a member that can be asked over this watch for a heartbeat. Each change costs
   * its size, here and on the network.
   *
   * @param secret of the answer to the member's join; with another one it only observes
   * @param known takes every message before the call
   * @param change called on the caller's context with the whole view first, then with changes
   * @return fails with {@code PeerLost}, too, if a message was missed: a new watch begins with the whole view
   */
  public Watch follow(String group, long incarnation, ByteString secret, KnownGroup known,
      Handler<GroupView> change) {
    Promise<Void> ended = Promise.promise();
    Runnable[] cancel = {() -> { }};
    Watch watch = calls.watch(RendezvousGrpcClient.Watch, WatchRequest.newBuilder().setGroup(group).setIncarnation(incarnation)
        .setSecret(secret).setDifferences(true).build(), message -> {
          if (ended.future().isComplete()) {
            return;
          }
          if (known.apply(message)) {
            change.handle(message);
          } else if (ended.tryFail(new PeerLost("a view of group " + group + " was missed: after view " + known.number()
              + " came what has changed since view " + message.getSince()))) {
            cancel[0].run();
          }
        });
    cancel[0] = watch::cancel;
    watch.ended().onComplete(end -> {
      if (end.succeeded()) {
        ended.tryComplete();
      } else {
        ended.tryFail(end.cause());
      }
    });
    return new Watch(ended.future(), watch::cancel);
  }

  /**
   * Gathers a small payload, which is a barrier: returns all payloads in rank order, when all active members have given
   * theirs.
   */
  public Future<GatherReply> gather(String group, int rank, long incarnation, String key, byte[] payload,
      long timeoutMillis) {
    return calls.call(RendezvousGrpcClient.Gather, GatherRequest.newBuilder().setGroup(group).setRank(rank)
        .setIncarnation(incarnation).setKey(key).setPayload(ByteString.copyFrom(payload)).setTimeoutMs(timeoutMillis)
        .build());
  }

  /**
   * Gathers and reduces: all slices of an array of {@code ofValues}, element by element in rank order. Also returns the
   * ranks that gave one.
   */
  public Future<GatherReply> reduce(String group, int rank, long incarnation, String key, Elementwise how,
      double[] slice, long ofValues, long timeoutMillis) {
    return calls.call(RendezvousGrpcClient.Gather, GatherRequest.newBuilder().setGroup(group).setRank(rank)
        .setIncarnation(incarnation).setKey(key).setPayload(Float64s.bytes(slice)).setReduce(how.word())
        .setValues(ofValues).setTimeoutMs(timeoutMillis).build());
  }

  /** Sets a key of the group. */
  public Future<Void> set(String group, String key, byte[] value) {
    return calls.call(RendezvousGrpcClient.Set, SetRequest.newBuilder().setGroup(group).setKey(key)
        .setValue(ByteString.copyFrom(value)).build()).mapEmpty();
  }

  /** Returns the key's value, or empty. */
  public Future<Optional<byte[]>> get(String group, String key) {
    return calls.call(RendezvousGrpcClient.Get, GetRequest.newBuilder().setGroup(group).setKey(key).build())
        .map(r -> r.getFound() ? Optional.of(r.getValue().toByteArray()) : Optional.empty());
  }

  /** Completes when all the keys are set. */
  public Future<Void> awaitKeys(String group, List<String> keys, long timeoutMillis) {
    return calls.call(RendezvousGrpcClient.Wait, WaitRequest.newBuilder().setGroup(group).addAllKeys(keys)
        .setTimeoutMs(timeoutMillis).build()).mapEmpty();
  }

  /** Adds to a counter and returns its new value. */
  public Future<Long> add(String group, String key, long delta) {
    return calls.call(RendezvousGrpcClient.Add, AddRequest.newBuilder().setGroup(group).setKey(key).setDelta(delta)
        .build()).map(r -> r.getValue());
  }

  /** Sets a key if it holds the expected value; empty: no value. */
  public Future<Boolean> compareAndSet(String group, String key, Optional<byte[]> expected, byte[] value) {
    CompareAndSetRequest.Builder request = CompareAndSetRequest.newBuilder().setGroup(group).setKey(key)
        .setValue(ByteString.copyFrom(value));
    expected.map(ByteString::copyFrom).ifPresent(request::setExpected);
    return calls.call(RendezvousGrpcClient.CompareAndSet, request.build()).map(r -> r.getSet());
  }

  /** Deletes a key; false if it was not there. */
  public Future<Boolean> delete(String group, String key) {
    return calls.call(RendezvousGrpcClient.Delete, DeleteRequest.newBuilder().setGroup(group).setKey(key).build())
        .map(r -> r.getDeleted());
  }

  /**
   * Leases the next work item of a queue. Items of this member that are neither done nor held are assigned to it again:
   * the earlier answer was lost. Therefore one call is made at a time, and a call whose answer was lost is repeated
   * unchanged.
   *
   * @param items the whole queue, the same from every member
   * @param done items of this member that are finished
   * @param held items of this member that it still works on
   */
  public Future<LeaseReply> lease(String group, int rank, long incarnation, String queue, List<String> items,
      List<String> done, List<String> held) {
    return calls.call(RendezvousGrpcClient.Lease, LeaseRequest.newBuilder().setGroup(group).setRank(rank)
        .setIncarnation(incarnation).setQueue(queue).addAllItems(items).addAllDone(done).addAllHeld(held).build());
  }

  /** Returns all open groups and waits. */
  public Future<GroupsReply> groups() {
    return groups("");
  }

  /** Returns one group, if it is open, and its waits with their peers; {@code group} empty for all. */
  public Future<GroupsReply> groups(String group) {
    return groups(group, 0);
  }

  /**
   * Returns groups as {@link #groups(String)}, with the group's view as a difference since the view of this number; 0:
   * whole.
   */
  public Future<GroupsReply> groups(String group, long since) {
    return calls.call(RendezvousGrpcClient.Groups, GroupsRequest.newBuilder().setGroup(group).setSince(since).build());
  }

  /** Closes the connection; calls under way fail, watches too. */
  public Future<Void> close() {
    return calls.close();
  }
}
