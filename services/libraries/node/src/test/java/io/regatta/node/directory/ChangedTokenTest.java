package io.regatta.node.directory;

import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.core.EntryView;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.map.IMap;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.node.admin.Waits;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.cluster.ClusteredVertx;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.node.member.MemberCalls;
import io.regatta.node.member.VertxMember;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.connection.ConnectionLimits;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Tokens;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.AsyncMap;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Entries of processes whose token expires or is replaced while they run. */
@Timeout(120)
class ChangedTokenTest {

  private static final String DECEMBER = "december " + "a".repeat(40);
  private static final String JANUARY = "january " + "b".repeat(40);
  private static final String BOTH = DECEMBER + "\n" + JANUARY;
  private static final String LONG_EXPIRED = DECEMBER + " expires=2020-01-01\n" + JANUARY;
  private static final String PLACE = "parameter-server/0";
  private static final int LEASE_SECONDS = 3;
  /** Lease of entries that are not renewed and must not expire during a test. */
  private static final int LONG_SECONDS = 600;
  private static final Function<Instance, Future<Boolean>> LIVES = holder -> Future.succeededFuture(true);

  private final List<Directory> directories = new ArrayList<>();
  private Vertx vertx;

  @AfterEach
  void close() {
    directories.forEach(directory -> get(directory.close()));
    get(vertx.close());
  }

  private void start(boolean clustered) {
    int port = FreePorts.one();
    vertx = clustered ? get(ClusteredVertx.start(ClusterConfig.of("test-" + UUID.randomUUID(),
        List.of("127.0.0.1:" + port), port), null, false)) : Vertx.vertx();
  }

  /** The directory of a process with a file of tokens. */
  private final class Process {
    private volatile String file = BOTH;
    private final PeerSecurity security = PeerSecurity.of(null, tokens(), this::tokens, ConnectionLimits.DEFAULTS);
    private final Directory directory;

    private Process(int leaseSeconds) {
      directory = new HazelcastDirectory(vertx, new Waits(), leaseSeconds, security);
      directories.add(directory);
    }

    private Tokens tokens() {
      return Tokens.parse(file, "a test");
    }

    private void change(String content) {
      file = content;
      security.reloadTokens();
    }

    private Future<Registration> sole(String id, int port) {
      return directory.registerSole(instance("parameter-server", id, 0, port), LIVES, "end one");
    }

    private List<String> ids() {
      return get(directory.list("parameter-server")).stream().map(Instance::id).toList();
    }
  }

  private AsyncMap<String, String> map() {
    return get(VertxMember.asyncMap(vertx, HazelcastDirectory.MAP,
        new MemberCalls(vertx, "a-test")));
  }

  private void pause() {
    get(vertx.timer(20, TimeUnit.MILLISECONDS));
  }

  @ParameterizedTest
  @CsvSource({"false, true", "false, false", "true, true", "true, false"})
  void keepsItsPlaceAndWritesItAnew_whenItsTokenExpiresOrIsReplaced(boolean clustered, boolean expires) {
    start(clustered);
    Process holder = new Process(LEASE_SECONDS);
    Registration place = get(holder.sole("holder", 1001));
    String sealed = get(map().get(PLACE));
    holder.change(expires ? LONG_EXPIRED : JANUARY);
    String now = sealed;
    while (sealed.equals(now) && !place.lost().isComplete()) { // until its next renewal
      pause();
      now = get(map().get(PLACE));
    }
    assertThat(place.lost().isComplete()).isFalse();
    Process reader = new Process(LEASE_SECONDS);
    reader.change(JANUARY);
    assertThat(reader.ids()).containsExactly("holder");
    if (clustered) {
      IMap<String, String> entries = VertxMember.under(vertx).orElseThrow().getMap(HazelcastDirectory.MAP);
      assertThat(entries.getEntryView(PLACE).getTtl()).as("it still runs out").isEqualTo(LEASE_SECONDS * 1000L);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void refusesANewcomer_whenTheHolderHasNotWrittenItsEntryAnewYet(boolean expires) {
    start(false);
    Process holder = new Process(LEASE_SECONDS);
    Registration place = get(holder.sole("holder", 1001));
    Process newcomer = new Process(LEASE_SECONDS);
    String after = expires ? DECEMBER + " expires=" + Instant.now() + "\n" + JANUARY : JANUARY;
    holder.change(after);
    newcomer.change(after);
    assertThatThrownBy(() -> get(newcomer.sole("newcomer", 1002))).isInstanceOf(Conflict.class)
        .hasMessageContaining("parameter-server 0 is at 127.0.0.1:1001");
    assertThat(place.lost().isComplete()).isFalse();
    assertThat(newcomer.ids()).containsExactly("holder");
  }

  @Test
  void givesAPlaceToANewcomer_whenAForgedEntryHasStoodThereForTwoLeases() {
    start(false);
    get(map().put(PLACE, "forged"));
    Process newcomer = new Process(1);
    get(newcomer.sole("newcomer", 1002));
    assertThat(newcomer.ids()).containsExactly("newcomer");
  }

  @Test
  void listsAnEntryForALeaseAfterItsTokenHasExpired_andNotLonger() {
    start(false);
    Process holder = new Process(LONG_SECONDS);
    get(holder.sole("holder", 1001));
    Process reader = new Process(LONG_SECONDS);
    reader.change(DECEMBER + " expires=" + Instant.now() + "\n" + JANUARY);
    assertThat(reader.ids()).containsExactly("holder");
    reader.change(LONG_EXPIRED);
    assertThat(reader.ids()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void removesItsEntryAtOnce_whenItsTokenHasBeenReplaced(boolean clustered) {
    start(clustered);
    Process process = new Process(LONG_SECONDS);
    Registration place = get(process.sole("holder", 1001));
    Registration other = get(process.directory.register(instance("trainer", "t", 0, 1003)));
    process.change(JANUARY);
    get(place.close());
    get(other.close());
    assertThat(get(map().keys())).isEmpty();
  }

  /** A process that is killed while it writes its entry with another token. */
  @Test
  void leavesAnEntryThatRunsOut_whenItsProcessEndsWhileItRenews() {
    start(true);
    AtomicBoolean dead = new AtomicBoolean();
    HazelcastInstance member = VertxMember.under(vertx).orElseThrow();
    Vertx owner = Vertx.vertx();
    VertxMember.attach(owner, dyingAfterAWrite(member, dead));
    AtomicBoolean changed = new AtomicBoolean();
    PeerSecurity security = PeerSecurity.of(null, Tokens.parse(BOTH, "a test"),
        () -> Tokens.parse(changed.get() ? JANUARY + "\n" + DECEMBER : BOTH, "a test"), ConnectionLimits.DEFAULTS);
    Directory directory = new HazelcastDirectory(owner, new Waits(), LEASE_SECONDS, security);
    get(directory.registerSole(instance("parameter-server", "holder", 0, 1001), LIVES, "end one"));
    changed.set(true);
    security.reloadTokens();
    while (!dead.get()) { // until its next renewal
      pause();
    }
    IMap<String, String> entries = member.getMap(HazelcastDirectory.MAP);
    for (EntryView<String, String> left = entries.getEntryView(PLACE); left != null; left = entries.getEntryView(PLACE)) {
      assertThat(left.getTtl()).as("ms").isLessThanOrEqualTo(LEASE_SECONDS * 1000L);
      pause();
    }
    get(owner.close());
  }

  /** A member of whose maps every call fails once one has written over an entry. */
  private static HazelcastInstance dyingAfterAWrite(HazelcastInstance member, AtomicBoolean dead) {
    return proxy(HazelcastInstance.class, member, (name, call) -> {
      Object answer = call.make();
      return !name.equals("getMap") ? answer
          : proxy(IMap.class, answer, (operation, inner) -> {
            if (dead.get() && !operation.equals("unlock")) {
              throw new HazelcastInstanceNotActiveException();
            }
            Object result = inner.make();
            if (operation.equals("replace") || operation.equals("set")) {
              dead.set(true);
            }
            return result;
          });
    });
  }

  private interface Call {
    Object make() throws Throwable;
  }

  private interface Around {
    Object call(String name, Call call) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Object of, Around around) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) ->
        around.call(method.getName(), () -> {
          try {
            return method.invoke(of, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        })));
  }
}
