package io.regatta.data.file;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/**
 * A process through which a file is piped. Owned by the thread that reads its output. The operating system's pipes
 * bound the data in transit. Two daemon threads serve it. Thread {@code regatta-pipe-stderr} keeps the end of its error
 * output. Thread {@code regatta-pipe-stdin} writes the content of a compressed file, or of one on another file system,
 * to its input; otherwise the file itself is its input. Both {@link #cancel} and {@link #close} kill the process and
 * its descendants; {@code close} also waits for both threads.
 */
final class PipedFile extends FileBytes {

  private static final int STDERR_BYTES_MAX = 4096;
  private static final long JOIN_MILLIS_MAX = 2_000;
  private static final int SIGNAL_STATUS = 128;
  /** Environment variable of all processes that a command starts: its value identifies the command. */
  private static final String MARK = "REGATTA_PIPE";
  /**
   * Variables of the configuration, any of which may hold a token: {@code REGATTA_NODE_TOKEN}, {@code REGATTA_NODE}.
   */
  private static final Pattern SETTING = Pattern.compile("(?i)regatta_(?!app_).*");
  private static final AtomicLong MARKS = new AtomicLong();

  private final Path file;
  private final PipeCommand command;
  private final String mark = ProcessHandle.current().pid() + "-" + MARKS.incrementAndGet();
  private final Process process;
  private final InputStream out;
  private final Thread stderrReader;
  private final Thread feeder;
  private final StringBuilder stderr = new StringBuilder(); // owned by stderrReader until it has ended
  private long lines;
  /** The error that ended the feeder before the file's end. */
  private volatile Throwable feedFailure;
  private volatile boolean cancelled;
  /** 0 until the end: the command's own read position cannot be seen. */
  private volatile long bytesBehind;

  PipedFile(Path file, PipeCommand command) throws IOException {
    this.file = file;
    this.command = command;
    ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", command.line());
    removeSettings(builder.environment());
    builder.environment().put(MARK, mark);
    boolean asItIs = !packed(file) && file.getFileSystem() == FileSystems.getDefault();
    if (asItIs) {
      builder.redirectInput(file.toFile());
    }
    process = builder.start();
    out = process.getInputStream();
    stderrReader = daemon("regatta-pipe-stderr", this::readStderr);
    feeder = asItIs ? null : daemon("regatta-pipe-stdin", this::feed);
  }

  /**
   * Removes the variables that configure this process, tokens included: a command that prints its environment, or
   * passes it on, must not reveal them. The user's own variables ({@code REGATTA_APP_*}) stay.
   */
  static void removeSettings(Map<String, String> environment) {
    environment.keySet().removeIf(name -> SETTING.matcher(name).matches());
  }

  private static Thread daemon(String name, Runnable body) {
    Thread thread = new Thread(body, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void readStderr() {
    byte[] block = new byte[STDERR_BYTES_MAX];
    try (InputStream err = process.getErrorStream()) {
      for (int read = err.read(block); read >= 0; read = err.read(block)) {
        stderr.append(new String(block, 0, read, StandardCharsets.UTF_8));
        stderr.delete(0, Math.max(0, stderr.length() - STDERR_BYTES_MAX));
      }
    } catch (IOException killed) {
      // The process was killed while it wrote.
    }
  }

  private void feed() {
    try (OutputStream in = process.getOutputStream()) {
      try (InputStream unpacked = unpacked(file)) {
        byte[] block = new byte[1 << 16];
        for (int read = unpacked.read(block); read >= 0; read = unpacked.read(block)) {
          try {
            in.write(block, 0, read);
          } catch (IOException noReader) {
            return; // the command need not read all its input: its status tells whether it failed
          }
        }
      } catch (Throwable damaged) { // other file systems also throw unchecked ones
        feedFailure = damaged;
        kill(); // before its input is closed, which it would take for the file's end
      }
    } catch (IOException closing) {
      // Its input is closed with it.
    }
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    int read;
    try {
      read = out.read(into, offset, length);
    } catch (IOException e) {
      if (cancelled) {
        throw new Cancelled("reading of " + file + " through '" + command.line() + "' was cancelled");
      }
      throw feedFailure == null ? e : feedFailure(); // the feeder has killed the command, which closes its output
    }
    for (int i = offset; i < offset + read; i++) {
      lines += into[i] == '\n' ? 1 : 0;
    }
    if (read < 0) {
      checkStatus();
      bytesBehind = DataFiles.size(file);
    }
    return read;
  }

  @Override
  public long bytesBehind() {
    return bytesBehind;
  }

  /** Checks the exit status at the end of the output, so that truncated output cannot pass for a short file. */
  private void checkStatus() throws IOException {
    int status;
    try {
      status = process.waitFor();
      stderrReader.join(JOIN_MILLIS_MAX);
      joinFeeder();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Cancelled("reading of " + file + " through '" + command.line() + "' was interrupted");
    }
    if (cancelled) {
      throw new Cancelled("reading of " + file + " through '" + command.line() + "' was cancelled");
    }
    if (feedFailure != null) {
      throw feedFailure();
    }
    if (status != 0) {
      String how = status > SIGNAL_STATUS ? "was killed by signal " + (status - SIGNAL_STATUS) : "ended with status " + status;
      String said = stderrReader.isAlive() ? "" : stderr.toString().strip().replaceAll("\\s*\\R\\s*", "; ");
      throw new InvalidInput("data file " + file.toAbsolutePath() + ": pipe_command '" + command.line() + "' " + how
          + " after " + lines + " lines; "
          + (said.isEmpty() ? "it wrote nothing to stderr" : "its stderr ends with: " + said)
          + ". Try it: " + command.line() + " < " + file.toAbsolutePath());
    }
  }

  private IOException feedFailure() {
    return feedFailure instanceof IOException known ? known : new IOException(feedFailure.toString(), feedFailure);
  }

  @Override
  public void cancel() {
    cancelled = true;
    kill();
  }

  private void kill() {
    boolean running = process.isAlive();
    List<ProcessHandle> started = process.descendants().toList();
    process.destroyForcibly(); // first, or the shell would continue with the command after the killed one
    started.forEach(ProcessHandle::destroyForcibly);
    if (running) {
      boolean interrupted = Thread.interrupted();
      try {
        process.waitFor(JOIN_MILLIS_MAX, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      ProcessHandle.allProcesses().filter(this::isOurs).forEach(ProcessHandle::destroyForcibly);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Returns true for any process with this command's mark, on Linux. It may have started after the descendants were
   * listed, be an orphan by now, and still hold the output open.
   */
  private boolean isOurs(ProcessHandle any) {
    try {
      String environment = Files.readString(Path.of("/proc", Long.toString(any.pid()), "environ"), StandardCharsets.ISO_8859_1);
      return ("\0" + environment).contains("\0" + MARK + "=" + mark + "\0");
    } catch (IOException notOurs) { // the process has ended, belongs to another user, or there is no /proc
      return false;
    }
  }

  private void joinFeeder() throws InterruptedException {
    if (feeder != null) {
      feeder.join(JOIN_MILLIS_MAX);
    }
  }

  /**
   * Kills the process and waits for it and its threads, also on a reader thread that is interrupted because its loader
   * closes; these waits are short.
   */
  @Override
  public void close() throws IOException {
    boolean interrupted = Thread.interrupted();
    kill();
    try {
      process.waitFor(JOIN_MILLIS_MAX, TimeUnit.MILLISECONDS);
      out.close();
      stderrReader.join(JOIN_MILLIS_MAX);
      joinFeeder();
    } catch (InterruptedException e) {
      interrupted = true; // the process is killed; its threads end by themselves
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
