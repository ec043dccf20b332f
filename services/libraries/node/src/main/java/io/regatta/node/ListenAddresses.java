package io.regatta.node;

import io.regatta.node.address.PublishedAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The addresses on which a node listens. Host names are not resolved: only {@code localhost} and addresses of the
 * loopback network count as loopback. Immutable.
 *
 * @param services of its services; empty: there are none
 * @param admin of its admin server; empty: there is none
 * @param member of the Hazelcast member that it has started itself; empty: there is none
 */
record ListenAddresses(String services, String admin, String member) {

  private static final String ADMIN = "admin port";
  private static final String MEMBER = "Hazelcast port";

  /**
   * Returns the addresses that other machines may reach, by the component that listens there; the key of the services
   * is empty.
   */
  Map<String, String> beyondLoopback() {
    Map<String, String> open = new LinkedHashMap<>();
    put(open, "", services);
    put(open, ADMIN, admin);
    put(open, MEMBER, member);
    return open;
  }

  private static void put(Map<String, String> open, String what, String address) {
    if (!address.isEmpty() && !PublishedAddress.isLoopback(address)) {
      open.put(what, address);
    }
  }

  /** Returns true if the admin port is the only one that other machines may reach. */
  boolean isAdminAlone() {
    return beyondLoopback().keySet().equals(Set.of(ADMIN));
  }

  /**
   * Returns the addresses that other machines may reach, for messages: each once, with the component that listens
   * there.
   */
  String beyondLoopbackText() {
    Map<String, String> byAddress = beyondLoopback().entrySet().stream().collect(Collectors.toMap(Map.Entry::getValue,
        Map.Entry::getKey, (one, other) -> one.isEmpty() ? one : one + ", " + other, LinkedHashMap::new));
    return byAddress.entrySet().stream().map(at -> at.getKey() + (at.getValue().isEmpty() ? ""
        : " (" + at.getValue() + ")")).collect(Collectors.joining(" and "));
  }
}
