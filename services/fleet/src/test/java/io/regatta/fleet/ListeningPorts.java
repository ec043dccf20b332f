package io.regatta.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Ports on which this process listens: sockets of its own in state LISTEN (0A), as Linux lists them. Stateless. */
final class ListeningPorts {

  private ListeningPorts() {}

  /** Returns all of them. */
  static Set<Integer> all() throws IOException {
    return at(address -> true);
  }

  /** Returns those at some addresses, which are given in hexadecimal, the lowest byte first: 0100007F is 127.0.0.1. */
  static Set<Integer> at(Predicate<String> addresses) throws IOException {
    Set<String> own;
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      own = descriptors.map(ListeningPorts::target).filter(t -> t.startsWith("socket:["))
          .map(t -> t.replaceAll("\\D", "")).collect(Collectors.toSet());
    }
    Set<Integer> ports = new TreeSet<>();
    for (Path table : Stream.of("/proc/self/net/tcp", "/proc/self/net/tcp6").map(Path::of).filter(Files::exists).toList()) {
      for (String line : Files.readAllLines(table)) {
        String[] fields = line.strip().split("\\s+");
        if (fields.length > 9 && fields[3].equals("0A") && own.contains(fields[9])) {
          String[] at = fields[1].split(":");
          if (addresses.test(at[0])) {
            ports.add(Integer.parseInt(at[1], 16));
          }
        }
      }
    }
    return ports;
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException gone) {
      return "";
    }
  }
}
