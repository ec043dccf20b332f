package io.regatta.load.attack;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A port that the attacker knows. Immutable.
 *
 * @param host IP address
 * @param number of the port
 * @param process that listens there, for the report
 */
record Port(String host, int number, String process) {

  /** Reads lines of address, port and process. */
  static List<Port> read(Path file) throws IOException {
    return Files.readAllLines(file).stream().map(line -> line.split(" ", 3))
        .map(words -> new Port(words[0], Integer.parseInt(words[1]), words[2])).toList();
  }

  String address() {
    return host + ":" + number;
  }

  @Override
  public String toString() {
    return process + " " + address();
  }
}
