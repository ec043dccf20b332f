package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.List;

/**
 * Which of a job's places are on this machine, and its ports. Owned by the launcher's thread; looks names up, so it may block.
 *
 * @param host this machine's own name for itself in the job's lists; empty: any of its addresses
 * @param ports what is held for processes to come
 */
record ThisMachine(String host, ReservedPorts ports) {

  /** Whether a place of the job is here. */
  boolean has(String place) {
    if (!host.isEmpty()) {
      return host.equals(place);
    }
    try {
      for (InetAddress address : InetAddress.getAllByName(place)) {
        if (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null) {
          return true;
        }
      }
      return false;
    } catch (UnknownHostException e) {
      return false; // another machine's name, which only its own network may know
    } catch (SocketException e) {
      throw new InvalidInput("this machine's addresses cannot be read: " + e.getMessage() + "; say which is its own with --host");
    }
  }

  /**
   * The numbers of the places that are here.
   *
   * @throws InvalidInput if none is
   */
  List<Integer> of(List<String> places, String option) {
    List<Integer> here = java.util.stream.IntStream.range(0, places.size()).filter(i -> has(places.get(i))).boxed().toList();
    if (here.isEmpty()) {
      throw new InvalidInput("Can't find your local ip " + (host.isEmpty() ? "" : "{" + host + "} ") + "in " + option + " = "
          + String.join(",", places) + ": start this command on those machines, or say which of them this is with --host");
    }
    return here;
  }
}
