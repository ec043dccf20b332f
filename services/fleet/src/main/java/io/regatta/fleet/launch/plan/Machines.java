package io.regatta.fleet.launch.plan;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.stream.IntStream;

/** The machines on which a launcher starts processes: the one that it runs on, or all of a list, over ssh. */
public interface Machines {

  /** Returns true if this launcher starts the processes of this place. May look names up, and block. */
  boolean has(String place);

  /** Returns true if ports can be held here until their processes listen; else they are taken as they are named. */
  boolean holdsPorts();

  /** Returns the first of any free ports that follow each other, held from now on; only if ports can be held. */
  int anyPort(String host, int count);

  /**
   * Holds a certain port, if ports can be held.
   *
   * @param what the process that will listen there, for the message
   * @throws InvalidInput if another process has it
   */
  void exactPort(String host, int port, String what);

  /** Returns true if two places whose processes are started by this launcher are on one machine. */
  boolean same(String place, String other);

  /** Returns the number of places that are on one machine with this one. */
  default int beside(String place, List<String> places) {
    return (int) places.stream().filter(other -> same(place, other)).count();
  }

  /** Returns the advice for the message if none of a list's places is served here. */
  String elsewhere();

  /**
   * Returns the numbers of the places whose processes are started here.
   *
   * @throws InvalidInput if there are none
   */
  default List<Integer> of(List<String> places, String option) {
    List<Integer> here = IntStream.range(0, places.size()).filter(i -> has(places.get(i))).boxed().toList();
    if (here.isEmpty()) {
      throw new InvalidInput("Can't find your local ip " + elsewhere() + "in " + option + " = " + String.join(",", places)
          + ": start this command on those machines, or say which of them this is with --host");
    }
    return here;
  }
}
