package io.regatta.fleet.launch.remote;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A machine that is reached over ssh.
 *
 * @param number its place in the list, from 0
 * @param login the name for ssh: {@code host} or {@code user@host}
 * @param host under which the job's machines reach each other
 * @param port of its sshd; 0: as the user's ssh is configured
 */
record RemoteHost(int number, String login, String host, int port) {

  private static final Pattern LINE = Pattern.compile("(?:([\\w.-]+)@)?([\\w.-]+|\\[[0-9A-Fa-f:]+])(?::(\\d{1,5}))?");

  /**
   * Returns the machines that a file lists, {@code [user@]host[:port]} a line; text after a # is ignored.
   *
   * @throws InvalidInput if it cannot be read, has another form, is empty, or names a host twice
   */
  static List<RemoteHost> read(Path file) {
    List<RemoteHost> hosts = new ArrayList<>();
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (IOException e) {
      throw new InvalidInput("--hosts " + file + " cannot be read: " + e.getMessage());
    }
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).replaceFirst("#.*", "").strip();
      if (!line.isEmpty()) {
        hosts.add(parse(hosts.size(), line, "--hosts " + file + ", line " + (i + 1)));
      }
    }
    if (hosts.isEmpty()) {
      throw new InvalidInput("--hosts " + file + " names no host: give one a line, [user@]host[:port]");
    }
    if (hosts.stream().map(RemoteHost::host).distinct().count() < hosts.size()) {
      throw new InvalidInput("--hosts " + file + " names a host twice; --server_num, --worker_num and --nproc_per_node say how many "
          + "processes each has");
    }
    return hosts;
  }

  private static RemoteHost parse(int number, String line, String where) {
    Matcher parts = LINE.matcher(line);
    if (!parts.matches()) {
      throw new InvalidInput(where + ": expected [user@]host[:port], got \"" + line + "\"");
    }
    if (line.startsWith("-") || parts.group(2).startsWith("-")) {
      throw new InvalidInput(where + ": \"" + line + "\" begins with -, which ssh takes for an option; name a host");
    }
    String host = parts.group(2).replaceAll("[\\[\\]]", "");
    return new RemoteHost(number, parts.group(1) == null ? host : parts.group(1) + "@" + host, host,
        parts.group(3) == null ? 0 : Integer.parseInt(parts.group(3)));
  }
}
