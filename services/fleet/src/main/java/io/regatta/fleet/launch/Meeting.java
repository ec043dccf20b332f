package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How machines of a collective job come together that are not named beforehand: {@code --master}, {@code --nnodes}, {@code --rank},
 * {@code --max_restart}. Immutable.
 *
 * @param master {@code host:port} of the rendezvous; empty: the machines are named, or there is one
 * @param least machines with which the job trains
 * @param most machines that it takes
 * @param rank of this machine, from 0; -1: ranks are given as trainers come
 * @param maxRestart how often a trainer of an elastic job that fails is started again
 */
public record Meeting(String master, int least, int most, int rank, int maxRestart) {

  /** No machine but this one. */
  public static final Meeting NONE = new Meeting("", 1, 1, -1, 0);

  private static final int RESTARTS = 3;
  private static final Pattern RANGE = Pattern.compile("(\\d{1,5})(?::(\\d{1,5}))?");

  public Meeting {
    if (least < 1 || most < least) {
      throw new InvalidInput("--nnodes must be a number of machines, or a range like 2:4, not " + least + ":" + most);
    }
    if (rank < -1 || rank >= most) {
      throw new InvalidInput("--rank is " + rank + ", but --nnodes says that there are " + most + " machines: from 0 to " + (most - 1)
          + ", or -1 for any");
    }
    if (maxRestart < 0) {
      throw new InvalidInput("--max_restart must be at least 0, not " + maxRestart);
    }
    if (!master.isEmpty()) {
      HostPort.parse(master, "--master");
    } else if (most > 1) {
      throw new InvalidInput("--nnodes " + most + " needs --master HOST:PORT, where the machines meet; or name them with --ips");
    }
  }

  /**
   * What a command line said; null: not given.
   *
   * @param nodes a number, or a range {@code N:M}
   */
  public static Meeting of(String master, String nodes, Integer rank, Integer maxRestart) {
    Matcher range = RANGE.matcher(nodes == null ? "1" : nodes.strip());
    if (!range.matches()) {
      throw new InvalidInput("--nnodes must be a number of machines, or a range like 2:4, not \"" + nodes + "\"");
    }
    int least = Integer.parseInt(range.group(1));
    return new Meeting(master == null ? "" : master.strip(), least, range.group(2) == null ? least
        : Integer.parseInt(range.group(2)), rank == null ? -1 : rank, maxRestart == null ? RESTARTS : maxRestart);
  }

  /** The same at another place. */
  Meeting at(String place) {
    return new Meeting(place, least, most, rank, maxRestart);
  }

  /** Whether machines may come and go. */
  boolean isRange() {
    return least < most;
  }

  /** The machines as they were given. */
  String nodes() {
    return least == most ? Integer.toString(least) : least + ":" + most;
  }
}
