package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.stream.IntStream;

/** Where a launcher starts processes: on the machine that it runs on, or on all of a list, over ssh. */
interface Machines {

  /** Whether processes of this place are started by this launcher. May look names up, and block. */
  boolean has(String place);

  /** Whether ports can be held here until their processes listen; else they are taken as they are named. */
  boolean holdsPorts();

  /** Any free ports that follow each other, held from now on; only if ports can be held. */
  int anyPort(String host, int count);

  /**
   * Holds a certain port, if ports can be held.
   *
   * @param what who will listen there, for the message
   * @throws InvalidInput if somebody else has it
   */
  void exactPort(String host, int port, String what);

  /** Whether two places whose processes are started by this launcher are on one machine. */
  boolean same(String place, String other);

  /** How many of the places are on one machine with this one. */
  default int beside(String place, List<String> places) {
    return (int) places.stream().filter(other -> same(place, other)).count();
  }

  /** What to do when none of a list's places is served here, for the message. */
  String elsewhere();

  /**
   * The numbers of the places whose processes are started here.
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
