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
 * A process that a file goes through. Owned by the thread that reads its output. The operating system's pipes bound what is
 * under way. Two daemon threads serve it: {@code regatta-pipe-stderr} keeps the end of what it complains of, and, for a
 * packed file or one of another file system, {@code regatta-pipe-stdin} gives it the content (else the file itself is its input). The process and what it has
 * started are killed by {@link #cancel} and by {@link #close}, which waits for both threads.
 */
final class PipedFile extends FileBytes {

  private static final int STDERR_BYTES_MAX = 4096;
  private static final long JOIN_MILLIS_MAX = 2_000;
  private static final int SIGNAL_STATUS = 128;
  /** In the environment of all that a command starts: which command's it is. */
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
  private final StringBuilder stderr = new StringBuilder(); // of stderrReader until it has ended
  private long lines;
  /** What has ended the feeder before the file's end. */
  private volatile Throwable unfed;
  private volatile boolean cancelled;
  /** 0 before its end: nobody sees how far the command has read. */
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
   * Removes what configures this process, tokens included: a command that prints its environment, or passes it on, must
   * not reveal them. Variables that are the user's own ({@code REGATTA_APP_*}) stay.
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
      // The process was killed while it complained.
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
            return; // it reads no further, which is its right: its status tells whether it failed
          }
        }
      } catch (Throwable damaged) { // other file systems throw unchecked ones as well
        unfed = damaged;
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
      throw unfed == null ? e : unfed(); // the feeder has killed the command, which closes its output
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

  /** At the end of the output: an output cut short must not look like a short file. */
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
    if (unfed != null) {
      throw unfed();
    }
    if (status != 0) {
      String how = status > SIGNAL_STATUS ? "was killed by signal " + (status - SIGNAL_STATUS) : "ended with status " + status;
      String said = stderrReader.isAlive() ? "" : stderr.toString().strip().replaceAll("\\s*\\R\\s*", "; ");
      throw new InvalidInput("data file " + file.toAbsolutePath() + ": pipe_command '" + command.line() + "' " + how
          + " after " + lines + " lines; "
          + (said.isEmpty() ? "it wrote nothing to stderr" : "its stderr ends with: " + said)
          + ". Try it by hand: " + command.line() + " < " + file.toAbsolutePath());
    }
  }

  private IOException unfed() {
    return unfed instanceof IOException known ? known : new IOException(unfed.toString(), unfed);
  }

  @Override
  public void cancel() {
    cancelled = true;
    kill();
  }

  private void kill() {
    boolean running = process.isAlive();
    List<ProcessHandle> started = process.descendants().toList();
    process.destroyForcibly(); // first, or the shell would go on to the command behind the one that is killed
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

  /** Also one that the shell started after its descendants were listed: nobody's child any more, it holds the output open. Linux. */
  private boolean isOurs(ProcessHandle any) {
    try {
      String environment = Files.readString(Path.of("/proc", Long.toString(any.pid()), "environ"), StandardCharsets.ISO_8859_1);
      return ("\0" + environment).contains("\0" + MARK + "=" + mark + "\0");
    } catch (IOException notOurs) { // it has gone, or is another user's, or there is no /proc
      return false;
    }
  }

  private void joinFeeder() throws InterruptedException {
    if (feeder != null) {
      feeder.join(JOIN_MILLIS_MAX);
    }
  }

  /** Leaves nothing behind, also on a reader thread that is interrupted because its loader closes: what it waits for is short. */
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
