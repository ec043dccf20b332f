package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.connection.ConnectionLimits;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Tokens;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A shared map to which a stranger writes, who does not know the token. */
class SealedStoreTest extends StoreContract {
  private static final Tokens FIRST = Tokens.parse("first the-first-token-of-this-job", "a test");
  private static final Tokens SECOND = Tokens.parse("second the-second-token-of-this-job", "a test");
  private static final Tokens BOTH = Tokens.parse(
      "second the-second-token-of-this-job\nfirst the-first-token-of-this-job", "a test");

  @Override
  Store client() {
    return client(FIRST);
  }

  private Store client(Tokens tokens) {
    return new HazelcastStore(vertx, PeerSecurity.of(null, tokens, null, ConnectionLimits.DEFAULTS));
  }

  private String held(String key) {
    return get(vertx.sharedData().<String, String>getAsyncMap(HazelcastStore.MAP).compose(map -> map.get(key)));
  }

  private void hold(String key, String value) {
    get(vertx.sharedData().<String, String>getAsyncMap(HazelcastStore.MAP).compose(map -> map.put(key, value)));
  }

  @Test
  void aValueThatIsNotSealedIsNotTaken() {
    Store store = client();
    byte[] value = {1, '\n', 2};
    get(store.set("true", value));
    String sealed = held("true");
    hold("forged", "1");
    hold("moved", sealed);
    hold("altered", sealed.replace((char) 2, (char) 3));
    for (String key : new String[] {"forged", "moved", "altered"}) {
      refused(() -> get(store.get(key)), key);
      refused(() -> get(store.compareAndSet(key, Optional.empty(), value)), key);
      refused(() -> get(store.compareAndSet(key, Optional.of(new byte[] {'1'}), value)), key);
      refused(() -> get(store.await(key, Duration.ofMillis(20))), key);
      get(store.set(key, value));
      assertThat(get(store.get(key))).contains(value);
    }
    refused(() -> get(client(SECOND).get("true")), "true");
    get(store.set("a", new byte[] {'b', '\n', '\n', 'c'}));
    hold("a\n\nb", held("a").replace("b\n\nc", "c"));
    refused(() -> get(store.get("a\n\nb")), "a\\u000a\\u000ab");
  }

  @Test
  void a_value_of_a_token_that_is_gone_is_removed_once_it_has_outlasted_its_writer() {
    get(client(FIRST).set("k", new byte[] {1}));
    get(client(FIRST).set("swapped", new byte[] {1}));
    refused(() -> get(client(SECOND).get("k")), "k");
    Store store = new HazelcastStore(vertx, PeerSecurity.of(null, SECOND, null, ConnectionLimits.DEFAULTS), 0);
    assertThat(get(store.get("k"))).isEmpty();
    assertThat(held("k")).isNull();
    assertThat(get(store.compareAndSet("swapped", Optional.empty(), new byte[] {2}))).isTrue();
    assertThat(get(store.get("swapped"))).contains(new byte[] {2});
  }

  private static void refused(Runnable call, String key) {
    assertThatThrownBy(call::run).isInstanceOf(PeerLost.class)
        .hasMessageContaining("key " + key + " of the store in the Hazelcast cluster holds a value that is not sealed");
  }

  /** The file of tokens changes from the first to both, and to the second; no one writes the value meanwhile. */
  @Test
  void aReaderSealsAValueWithTheTokenOfNow() {
    AtomicReference<Tokens> file = new AtomicReference<>(FIRST);
    PeerSecurity security = PeerSecurity.of(null, FIRST, file::get, ConnectionLimits.DEFAULTS);
    Store store = new HazelcastStore(vertx, security);
    get(store.set("k", new byte[] {1}));
    file.set(BOTH);
    security.reloadTokens();
    assertThat(get(store.get("k"))).contains(new byte[] {1});
    assertThat(get(client(SECOND).get("k"))).contains(new byte[] {1});
    assertThat(get(client(BOTH).compareAndSet("k", Optional.of(new byte[] {1}), new byte[] {2}))).isTrue();
    assertThat(get(store.get("k"))).contains(new byte[] {2});
  }
}
