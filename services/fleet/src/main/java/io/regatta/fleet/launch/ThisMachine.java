package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.launch.plan.Machines;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;

/**
 * This machine, as one of a job's places, and its ports. Owned by the launcher's thread; looks names up, so it may
 * block.
 *
 * @param host this machine's own name for itself in the job's lists; empty: any of its addresses
 * @param ports held for later processes
 */
record ThisMachine(String host, ReservedPorts ports) implements Machines {

  @Override
  public boolean has(String place) {
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

  @Override
  public boolean holdsPorts() {
    return true;
  }

  @Override
  public int anyPort(String at, int count) {
    return ports.any(at, count);
  }

  @Override
  public void exactPort(String at, int port, String what) {
    ports.exactly(at, port, what);
  }

  @Override
  public boolean same(String place, String other) {
    return true;
  }

  @Override
  public String elsewhere() {
    return host.isEmpty() ? "" : "{" + host + "} ";
  }
}
