package io.regatta.node.directory;

import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory.Instance;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.AsyncMap;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A place in the directory that one instance may have. */
class SolePlaceTest {

  /** Lease of entries that must not expire, however long the machine stands still. */
  private static final int LEASE_SECONDS = 600;
  /** Lease of holders that renew, or ask a silent one, while a test waits for that. */
  private static final int SHORT_SECONDS = 1;
  private static final Function<Instance, Future<Boolean>> LIVES = holder -> Future.succeededFuture(true);
  private static final Function<Instance, Future<Boolean>> ANOTHER = holder -> Future.succeededFuture(false);
  private static final Function<Instance, Future<Boolean>> NOBODY =
      holder -> Future.failedFuture(new RuntimeException(new ConnectException("refused")));
  private static final Function<Instance, Future<Boolean>> SILENT =
      holder -> Future.failedFuture(new TimeoutException("2000 ms"));

  private final Vertx vertx = Vertx.vertx();
  private final Directory directory = new HazelcastDirectory(vertx, new Waits(), LEASE_SECONDS);
  private final Directory hasty = new HazelcastDirectory(vertx, new Waits(), SHORT_SECONDS);

  @AfterEach
  void close() {
    get(hasty.close());
    get(directory.close());
    get(vertx.close());
  }

  @Test
  void whoFindsALivingHolderIsRefusedAndToldWhereItIs() {
    get(sole("a", 0, 1001, LIVES));
    assertThatThrownBy(() -> get(sole("b", 0, 1002, LIVES))).isInstanceOf(Conflict.class)
        .hasMessageContaining("127.0.0.1:1002 is not needed: parameter-server 0 is at 127.0.0.1:1001, process "
            + ProcessHandle.current().pid() + "; end one");
    get(sole("c", 1, 1003, LIVES));
    assertThat(ids()).containsExactly("a", "c");
  }

  @Test
  void aHolderThatIsGoneAndAFormerLifeAtTheSameAddressAreReplacedAtOnce() {
    get(sole("gone", 0, 1001, LIVES));
    get(sole("b", 0, 1002, ANOTHER));
    assertThat(ids()).containsExactly("b");
    get(sole("c", 0, 1003, NOBODY));
    get(sole("again", 0, 1003, LIVES));
    assertThat(ids()).containsExactly("again");
  }

  /** It renews what lasts for its lease; here that lasts longer, for a machine may stand still for a lease. */
  @Test
  void aBusyHolderThatRenewsItsEntryKeepsItsPlace() {
    BlockingQueue<Long> renewed = new LinkedBlockingQueue<>();
    Directory lasting = new HazelcastDirectory(vertx, new Waits(), SHORT_SECONDS,
        () -> vertx.sharedData().<String, String>getAsyncMap(HazelcastDirectory.MAP).map(map -> longerPut(map, renewed)));
    get(lasting.registerSole(instance("parameter-server", "busy", 0, 1001), LIVES, "end one"));
    assertThatThrownBy(() -> get(sole(hasty, "b", 0, 1002, SILENT))).isInstanceOf(Conflict.class)
        .hasMessageContaining("127.0.0.1:1001").hasMessageContaining("does not answer but renews its entry");
    assertThat(ids()).containsExactly("busy");
    for (int renewal = 0; renewal < 5; renewal++) {
      assertThat(poll(renewed)).isEqualTo(SHORT_SECONDS * 1000L);
    }
    get(lasting.close());
  }

  private static Long poll(BlockingQueue<Long> queue) {
    try {
      return queue.poll(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The store itself, in which what is put, for a time that is noted, does not run out. */
  @SuppressWarnings("unchecked")
  private static AsyncMap<String, String> longerPut(AsyncMap<String, String> map, BlockingQueue<Long> millis) {
    return (AsyncMap<String, String>) Proxy.newProxyInstance(AsyncMap.class.getClassLoader(),
        new Class<?>[] {AsyncMap.class}, (proxy, method, arguments) -> {
          int last = arguments == null ? -1 : arguments.length - 1;
          if (last < 0 || !(arguments[last] instanceof Long time)) {
            return method.invoke(map, arguments);
          }
          millis.add(time);
          Object[] longer = arguments.clone();
          longer[last] = LEASE_SECONDS * 1000L;
          return method.invoke(map, longer);
        });
  }

  @Test
  void aHolderThatRefusesTheTokenIsNotCalledSilent() {
    get(sole("holder", 0, 1001, LIVES));
    assertThatThrownBy(() -> get(sole(hasty, "b", 0, 1002, holder -> Future.failedFuture(new InvalidInput(
        "parameter server at 127.0.0.1:1001 refuses a call with another token than the job's"))))).isInstanceOf(Conflict.class)
        .hasMessageContaining("but does not answer this process: parameter server at 127.0.0.1:1001 refuses a call with another token")
        .hasMessageEndingWith("; end one");
    assertThat(ids()).containsExactly("holder");
  }

  @Test
  void aFrozenHolderLosesItsPlaceWithItsLease() {
    String entry = InstanceText.encode(instance("parameter-server", "frozen", 0, 1001));
    get(vertx.sharedData().<String, String>getAsyncMap(HazelcastDirectory.MAP)
        .compose(map -> map.put("parameter-server/0", entry, 600)));
    get(sole("b", 0, 1002, SILENT));
    assertThat(ids()).containsExactly("b");
  }

  @Test
  void ofManyThatComeAtOnceOneGetsThePlace() {
    List<Future<Registration>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      all.add(sole("at-once-" + i, 0, 1001 + i, LIVES));
    }
    get(Future.join(all).otherwiseEmpty());
    assertThat(all).filteredOn(Future::succeeded).hasSize(1);
    assertThat(ids()).hasSize(1);
  }

  @Test
  void oneWhoseIndexWasGivenOtherwiseCountsToo() {
    get(directory.register(instance("parameter-server", "given", 0, 1001)));
    assertThatThrownBy(() -> get(sole("b", 0, 1002, LIVES))).isInstanceOf(Conflict.class)
        .hasMessageContaining("127.0.0.1:1001");
    assertThat(ids()).containsExactly("given");
  }

  @Test
  void aHolderThatWakesDoesNotTakeItsPlaceBack() {
    Registration woken = get(sole(hasty, "woken", 0, 1001, LIVES));
    get(sole("b", 0, 1002, NOBODY));
    get(vertx.timer(SHORT_SECONDS * 2500, TimeUnit.MILLISECONDS));
    assertThat(ids()).containsExactly("b");
    get(woken.close());
    assertThat(ids()).containsExactly("b");
  }

  @Test
  void aHolderWhosePlaceIsTakenIsTold() {
    Future<String> lost = get(sole(hasty, "woken", 0, 1001, LIVES)).lost();
    Future<String> not = get(sole("b", 0, 1002, NOBODY)).lost();
    assertThat(get(lost)).contains("127.0.0.1:1001", "taken by 127.0.0.1:1002", "end one of the two");
    assertThat(not.isComplete()).isFalse();
  }

  /** Its entry has run out, and a newcomer's goes in between its look and its renewal. */
  @Test
  void aHolderThatWakesBesideANewcomerDoesNotOverwriteIt() {
    Promise<Void> looked = Promise.promise();
    Promise<Void> goOn = Promise.promise();
    Directory slow = new HazelcastDirectory(vertx, new Waits(), SHORT_SECONDS,
        () -> vertx.sharedData().<String, String>getAsyncMap(HazelcastDirectory.MAP)
            .map(map -> lateGet(map, looked, goOn)));
    Registration woken = get(slow.registerSole(instance("parameter-server", "woken", 0, 1001), LIVES, "end one"));
    get(vertx.sharedData().<String, String>getAsyncMap(HazelcastDirectory.MAP)
        .compose(map -> map.remove("parameter-server/0")));
    get(looked.future());
    Registration newcomer = get(sole("newcomer", 0, 1002, LIVES));
    goOn.complete();
    assertThat(get(woken.lost())).contains("taken by 127.0.0.1:1002");
    assertThat(ids()).containsExactly("newcomer");
    assertThat(newcomer.lost().isComplete()).isFalse();
    get(slow.close());
  }

  /** The renewal is on its way to the store while the entry runs out and a newcomer gets the place. */
  @Test
  void doesNotOverwriteTheNextHolder_whenItsRenewalIsLate() {
    Promise<Void> sent = Promise.promise();
    Promise<Void> goOn = Promise.promise();
    Promise<Void> written = Promise.promise();
    Directory slow = new HazelcastDirectory(vertx, new Waits(), SHORT_SECONDS,
        () -> vertx.sharedData().<String, String>getAsyncMap(HazelcastDirectory.MAP)
            .map(map -> lateRenewal(map, sent, goOn, written)));
    Registration late = get(slow.registerSole(instance("parameter-server", "late", 0, 1001), LIVES, "end one"));
    get(sent.future());
    get(vertx.sharedData().<String, String>getAsyncMap(HazelcastDirectory.MAP)
        .compose(map -> map.remove("parameter-server/0")));
    Registration newcomer = get(sole("newcomer", 0, 1002, LIVES));
    goOn.complete();
    get(written.future());
    assertThat(ids()).containsExactly("newcomer");
    assertThat(get(late.lost())).contains("taken by 127.0.0.1:1002");
    assertThat(newcomer.lost().isComplete()).isFalse();
    get(slow.close());
  }

  /** The store itself, to which whatever renews an entry comes late. */
  @SuppressWarnings("unchecked")
  private static AsyncMap<String, String> lateRenewal(AsyncMap<String, String> map, Promise<Void> sent, Promise<Void> goOn,
      Promise<Void> written) {
    return (AsyncMap<String, String>) Proxy.newProxyInstance(AsyncMap.class.getClassLoader(),
        new Class<?>[] {AsyncMap.class}, (proxy, method, arguments) -> {
          if (!List.of("put", "replaceIfPresent").contains(method.getName())) {
            return method.invoke(map, arguments);
          }
          sent.tryComplete();
          return goOn.future().compose(v -> {
            try {
              return ((Future<Object>) method.invoke(map, arguments)).onComplete(done -> written.tryComplete());
            } catch (ReflectiveOperationException e) {
              return Future.failedFuture(e);
            }
          });
        });
  }

  /** The store itself, whose answer that a key has no value comes late. */
  @SuppressWarnings("unchecked")
  private static AsyncMap<String, String> lateGet(AsyncMap<String, String> map, Promise<Void> looked,
      Promise<Void> goOn) {
    return (AsyncMap<String, String>) Proxy.newProxyInstance(AsyncMap.class.getClassLoader(),
        new Class<?>[] {AsyncMap.class}, (proxy, method, arguments) -> {
          Object answer = method.invoke(map, arguments);
          return !method.getName().equals("replaceIfPresent") ? answer : ((Future<Boolean>) answer).compose(own -> {
            if (own) {
              return Future.succeededFuture(true);
            }
            looked.tryComplete();
            return goOn.future().map(false);
          });
        });
  }

  /** The store hangs for several times as long as renewals are apart. */
  @Test
  @SuppressWarnings("unchecked")
  void doesNotRenewBesideARenewalThatIsUnderWay() {
    Promise<Void> goOn = Promise.promise();
    AtomicInteger renewals = new AtomicInteger();
    Promise<Void> again = Promise.promise();
    int leaseSeconds = 3; // so long a renewal may hang
    Directory slow = new HazelcastDirectory(vertx, new Waits(), leaseSeconds,
        () -> vertx.sharedData().<String, String>getAsyncMap(HazelcastDirectory.MAP).map(map ->
            (AsyncMap<String, String>) Proxy.newProxyInstance(AsyncMap.class.getClassLoader(),
                new Class<?>[] {AsyncMap.class},
                (proxy, method, arguments) -> {
                  if (!method.getName().equals("replaceIfPresent")) {
                    return method.invoke(map, arguments);
                  }
                  if (renewals.incrementAndGet() > 1 && goOn.future().isComplete()) {
                    again.tryComplete();
                  }
                  return goOn.future().map(true);
                })));
    get(slow.registerSole(instance("parameter-server", "hanging", 0, 1001), LIVES, "end one"));
    get(vertx.timer(leaseSeconds * 900, TimeUnit.MILLISECONDS));
    assertThat(renewals).hasValue(1);
    goOn.complete();
    get(again.future());
    get(slow.close());
  }

  @Test
  void aRegistrationThatEndsAfterTheDirectoryWasClosedLeavesNothing() {
    int leaseSeconds = 5; // so long the holder is asked, and is the machine allowed to stand still
    Directory holders = new HazelcastDirectory(vertx, new Waits(), leaseSeconds);
    get(sole(holders, "holder", 0, 1001, LIVES));
    Directory closing = new HazelcastDirectory(vertx, new Waits(), leaseSeconds);
    Promise<Boolean> answer = Promise.promise();
    Future<Registration> late = closing.registerSole(instance("parameter-server", "late", 0, 1002),
        holder -> answer.future(), "end one");
    get(closing.close());
    answer.complete(false);
    assertThatThrownBy(() -> get(late)).isInstanceOf(Cancelled.class).hasMessageContaining("directory is closed");
    List<String> there = ids();
    while (there.isEmpty()) { // until the holder's next renewal: it may come back where nobody is
      get(vertx.timer(20, TimeUnit.MILLISECONDS));
      there = ids();
    }
    assertThat(there).containsExactly("holder");
    get(holders.close());
  }

  private Future<Registration> sole(String id, int index, int port, Function<Instance, Future<Boolean>> answers) {
    return sole(directory, id, index, port, answers);
  }

  private static Future<Registration> sole(Directory by, String id, int index, int port, Function<Instance, Future<Boolean>> answers) {
    return by.registerSole(instance("parameter-server", id, index, port), answers, "end one");
  }

  private List<String> ids() {
    return get(directory.list("parameter-server")).stream().map(Instance::id).toList();
  }
}
