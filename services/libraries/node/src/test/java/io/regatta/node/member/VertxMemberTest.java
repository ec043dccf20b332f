package io.regatta.node.member;

import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.LifecycleService;
import io.regatta.node.admin.Waits;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.cluster.ClusteredVertx;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.testing.FreePorts;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VerticleBase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The Hazelcast member under a Vertx, from its start to its end. */
@Timeout(60)
class VertxMemberTest {

  private final int port = FreePorts.one();
  private final Vertx vertx = get(ClusteredVertx.start(ClusterConfig.of("test-" + UUID.randomUUID(),
      List.of("127.0.0.1:" + port), port), null, false));
  private final HazelcastInstance member = VertxMember.under(vertx).orElseThrow();

  @AfterEach
  void close() {
    get(vertx.close());
  }

  @Test
  void stopsAfterTheVerticles_whenItsVertxIsClosed() {
    Directory directory = new HazelcastDirectory(vertx, new Waits(), 10);
    get(directory.register(instance("rendezvous", "r", 0, 1001)));
    Promise<List<Instance>> listed = Promise.promise();
    get(vertx.deployVerticle(new VerticleBase() {
      @Override
      public Future<?> stop() {
        return directory.list("rendezvous").onComplete(listed);
      }
    }));
    get(vertx.close());
    assertThat(get(listed.future())).extracting(Instance::id).containsExactly("r");
    assertThat(member.getLifecycleService().isRunning()).isFalse();
  }

  @Test
  void tellsThatTheMemberIsLost_whenItHasStoppedBeforeItIsAttached() {
    HazelcastInstance stopping = dead(member);
    Vertx late = Vertx.vertx();
    assertThat(VertxMember.attach(late, stopping).isComplete()).as("it has ended, and nobody was told").isTrue();
    get(late.close());
    member.getLifecycleService().terminate();
    Vertx later = Vertx.vertx();
    assertThat(VertxMember.attach(later, member).isComplete()).as("it is gone").isTrue();
    get(later.close());
  }

  /** A member that has stopped, and whose listeners have been called before there was one. */
  private static HazelcastInstance dead(HazelcastInstance member) {
    LifecycleService life = proxy(LifecycleService.class,
        member.getLifecycleService(), "isRunning", false);
    return proxy(HazelcastInstance.class, member, "getLifecycleService", life);
  }

  private static <T> T proxy(Class<T> type, Object of, String method, Object answer) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, called, arguments) -> {
      if (called.getName().equals(method)) {
        return answer;
      }
      try {
        return called.getName().equals("shutdown") ? null : called.invoke(of, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }));
  }

  @Test
  void makesAMapOffTheCallersLoop() {
    AtomicReference<Thread> maker = new AtomicReference<>();
    HazelcastInstance watched = (HazelcastInstance) Proxy.newProxyInstance(HazelcastInstance.class.getClassLoader(),
        new Class<?>[] {HazelcastInstance.class}, (proxy, called, arguments) -> {
          if (called.getName().equals("getMap")) {
            maker.set(Thread.currentThread());
          }
          return called.invoke(member, arguments);
        });
    Vertx other = Vertx.vertx();
    VertxMember.attach(other, watched);
    Promise<Thread> caller = Promise.promise();
    other.runOnContext(v -> VertxMember.asyncMap(other, "a-map",
        new MemberCalls(other, "a-test")).map(Thread.currentThread()).onComplete(caller));
    Thread loop = get(caller.future());
    assertThat(maker.get()).isNotNull().isNotSameAs(loop);
    get(other.close());
  }
}
