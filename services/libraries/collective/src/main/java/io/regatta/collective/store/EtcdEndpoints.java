package io.regatta.collective.store;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.PublishedAddress;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The members of an etcd cluster and the prefix of a store's keys in it. Immutable.
 *
 * @param members client endpoints, at least one; requests go to the first that answers
 * @param prefix of all keys, without a slash at either end, e.g. {@code regatta/jobs}
 */
public record EtcdEndpoints(List<HostPort> members, String prefix) {
  /** The form of a text that {@link #parse} reads, with placeholders in upper case. */
  public static final String FORM = "etcd:HOST:PORT[,HOST:PORT...]/PREFIX";

  private static final String SCHEME = "etcd:";

  public EtcdEndpoints {
    members = List.copyOf(members);
    if (members.isEmpty() || prefix.isEmpty() || prefix.startsWith("/") || prefix.endsWith("/")) {
      throw new InvalidInput("a store in etcd has at least one endpoint, and a prefix without a slash at either end; "
          + "got " + members.size() + " endpoints and prefix '" + PeerText.of(prefix) + "'");
    }
  }

  /**
   * Parses {@value #FORM}.
   *
   * @param key the configuration key, for the message
   * @throws InvalidInput if the text has another form
   */
  public static EtcdEndpoints parse(String text, String key) {
    int slash = text.indexOf('/');
    String prefix = slash < 0 ? "" : PeerText.requireVisible("prefix of a store in etcd", text.substring(slash + 1));
    if (!text.startsWith(SCHEME) || prefix.isEmpty() || prefix.startsWith("/") || prefix.endsWith("/")) {
      throw new InvalidInput(key + " is '" + PeerText.of(text) + "'; give " + FORM + ", e.g. "
          + "etcd:10.0.0.1:2379,10.0.0.2:2379/regatta, where the prefix ends without a slash");
    }
    return new EtcdEndpoints(Arrays.stream(text.substring(SCHEME.length(), slash).split(",", -1))
        .map(member -> HostPort.parse(member, key)).toList(), prefix);
  }

  /**
   * Returns the member to which a route shows the address of this machine: the first one beyond loopback, or else the
   * first.
   */
  public HostPort remote() {
    return members.stream().filter(member -> !PublishedAddress.isLoopback(member.host())).findFirst()
        .orElse(members.get(0));
  }

  @Override
  public String toString() {
    return members.stream().map(HostPort::toString).collect(Collectors.joining(",", SCHEME, "/")) + prefix;
  }
}
