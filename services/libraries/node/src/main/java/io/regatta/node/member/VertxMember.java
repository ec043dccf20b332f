package io.regatta.node.member;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.core.LifecycleEvent.LifecycleState;
import com.hazelcast.core.LifecycleService;
import io.regatta.protocol.vertx.VertxInternals;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.AsyncMap;
import io.vertx.core.shareddata.Shareable;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * The Hazelcast member under a Vertx: given to a Vertx that Regatta creates, or found in the cluster manager of an
 * application's. Stateless, any thread.
 */
public final class VertxMember {

  /** Local map of a Vertx that holds its member. */
  private static final String HELD = "regatta.hazelcast";

  private VertxMember() {}

  /** The member of a Vertx that Regatta has made. */
  private record Held(HazelcastInstance hazelcast) implements Shareable {}

  /**
   * Gives a member to a Vertx that has none, and stops it when that is closed: no thread and no port is left then.
   * Verticles are undeployed before the member stops, so that they can still use it while they stop.
   *
   * @return completes when the member has stopped before its Vertx was closed, as after a failure of its own port or
   *     thread; also if it has stopped before this call
   */
  public static Future<Void> attach(Vertx vertx, HazelcastInstance hazelcast) {
    Promise<Void> lost = Promise.promise();
    vertx.sharedData().<String, Held>getLocalMap(HELD).put(HELD, new Held(hazelcast));
    Runnable forget = listen(hazelcast, lost);
    VertxInternals.onClose(vertx, done -> {
      forget.run();
      undeployAll(vertx).onComplete(undeployed -> { // Vert.x itself does so after the close hooks
        Thread closer = new Thread(() -> done.complete(null, shutDown(hazelcast)), "regatta-hazelcast-stop");
        closer.setDaemon(true);
        closer.start();
      });
    });
    return lost.future();
  }

  /** Completes the promise once the member has stopped. Returns the action that removes the listener. */
  private static Runnable listen(HazelcastInstance hazelcast, Promise<Void> lost) {
    LifecycleService life = hazelcast.getLifecycleService();
    UUID listener;
    try {
      listener = life.addLifecycleListener(event -> {
        if (event.getState() == LifecycleState.SHUTDOWN) {
          lost.tryComplete();
        }
      });
    } catch (HazelcastInstanceNotActiveException e) {
      lost.tryComplete();
      return () -> { };
    }
    if (!life.isRunning()) { // it may have stopped before it had a listener
      lost.tryComplete();
    }
    return () -> life.removeLifecycleListener(listener);
  }

  /** Succeeds when all verticles have been undeployed, whether they have stopped in order or not. */
  private static Future<Void> undeployAll(Vertx vertx) {
    return Future.join(vertx.deploymentIDs().stream().map(vertx::undeploy).toList()).<Void>mapEmpty().otherwiseEmpty();
  }

  /** Stops in order, or else at once: whatever fails, the close of the Vertx must complete. */
  private static Throwable shutDown(HazelcastInstance hazelcast) {
    try {
      hazelcast.getLifecycleService().shutdown();
      return null;
    } catch (RuntimeException | Error e) {
      try {
        hazelcast.getLifecycleService().terminate();
      } catch (RuntimeException | Error again) {
        e.addSuppressed(again);
      }
      return e;
    }
  }

  /**
   * Returns the member under a Vertx: of Regatta's own, or of an application that has clustered its Vertx with
   * Hazelcast.
   */
  public static Optional<HazelcastInstance> under(Vertx vertx) {
    Held held = vertx.sharedData().<String, Held>getLocalMap(HELD).get(HELD);
    if (held != null) {
      return Optional.of(held.hazelcast);
    }
    return VertxInternals.clusterManager(vertx) instanceof HazelcastClusterManager manager
        ? Optional.ofNullable(manager.getHazelcastInstance()) : Optional.empty();
  }

  /** Returns the UUIDs of the members of the cluster under a Vertx; empty if there is none. */
  public static Optional<Set<String>> ids(Vertx vertx) {
    return under(vertx).map(hazelcast -> hazelcast.getCluster().getMembers().stream()
        .map(member -> member.getUuid().toString()).collect(Collectors.toSet()));
  }

  /** Returns the UUID of a Vertx's member, another one at each start; empty if it has none, or it has stopped. */
  public static String id(Vertx vertx) {
    try {
      return under(vertx).map(hazelcast -> hazelcast.getCluster().getLocalMember().getUuid().toString()).orElse("");
    } catch (HazelcastInstanceNotActiveException e) {
      return "";
    }
  }

  /** Returns the address that the Hazelcast member under a Vertx announces; empty if there is none. */
  public static Optional<String> address(Vertx vertx) {
    return under(vertx).map(hazelcast -> hazelcast.getCluster().getLocalMember().getAddress().getHost());
  }

  /**
   * Returns the map of this name that all members of the Hazelcast cluster under a Vertx share; that of the JVM if
   * there is no cluster. For small texts.
   *
   * @param calls threads on which calls into Hazelcast block
   */
  public static Future<AsyncMap<String, String>> asyncMap(Vertx vertx, String name, MemberCalls calls) {
    return under(vertx).map(hazelcast -> calls.<AsyncMap<String, String>>call(() -> // the first use blocks
            new MemberMap(hazelcast.getMap(name), calls)))
        .orElseGet(() -> vertx.sharedData().getAsyncMap(name));
  }
}
