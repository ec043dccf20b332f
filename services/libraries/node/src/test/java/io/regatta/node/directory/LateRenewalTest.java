package io.regatta.node.directory;

import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import io.regatta.node.admin.Waits;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.cluster.ClusteredVertx;
import io.regatta.node.member.VertxMember;
import io.regatta.node.testing.FreePorts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A cluster that does not answer while an entry is renewed, and answers once the owner of the entry has ended. */
@Timeout(60)
class LateRenewalTest {

  private static final int THREADS = 8;

  private final CountDownLatch answers = new CountDownLatch(1);
  private final AtomicInteger written = new AtomicInteger();

  private <T> T watched(Class<T> type, Object of) {
    Class<?>[] types = {type};
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), types, (proxy, called, arguments) -> {
      switch (called.getName()) {
        case "entrySet" -> answers.await();
        case "set" -> written.incrementAndGet();
        case "getMap" -> {
          return watched(IMap.class, called.invoke(of, arguments));
        }
        default -> { }
      }
      try {
        return called.invoke(of, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }));
  }

  @Test
  void when_a_renewal_waits_until_its_owner_has_ended_then_it_writes_nothing() {
    int port = FreePorts.one();
    Vertx clustered = get(ClusteredVertx.start(ClusterConfig.of("test-" + UUID.randomUUID(),
        List.of("127.0.0.1:" + port), port), null, false));
    Vertx vertx = Vertx.vertx();
    VertxMember.attach(vertx, watched(HazelcastInstance.class, VertxMember.under(clustered).orElseThrow()));
    HazelcastDirectory directory = new HazelcastDirectory(vertx, new Waits(), 1);
    Registration registration = get(directory.register(instance("rendezvous", "r", 0, 1)));
    for (int i = 0; i < THREADS; i++) {
      directory.reachable();
    }
    get(vertx.timer(1, TimeUnit.SECONDS).mapEmpty()); // renewals come three times in it
    int before = written.get();
    Future<Void> closed = registration.close();
    answers.countDown();
    get(closed);
    assertThat(get(directory.list("rendezvous"))).isEmpty();
    assertThat(written.get()).isEqualTo(before);
    get(directory.close());
    get(vertx.close());
    get(clustered.close());
  }
}
