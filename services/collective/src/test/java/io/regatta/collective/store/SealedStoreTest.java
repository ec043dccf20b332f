package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.member.VertxMember;
import io.regatta.protocol.security.ConnectionLimits;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Tokens;
import java.time.Duration;
import java.util.Map;
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

  private Map<String, String> map() {
    return VertxMember.sharedMap(vertx, HazelcastStore.MAP);
  }

  @Test
  void aValueThatIsNotSealedIsNotTaken() {
    Store store = client();
    byte[] value = {1, '\n', 2};
    get(store.set("true", value));
    String sealed = map().get("true");
    map().put("forged", "1");
    map().put("moved", sealed);
    map().put("altered", sealed.replace((char) 2, (char) 3));
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
    map().put("a\n\nb", map().get("a").replace("b\n\nc", "c"));
    refused(() -> get(store.get("a\n\nb")), "a\\u000a\\u000ab");
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
