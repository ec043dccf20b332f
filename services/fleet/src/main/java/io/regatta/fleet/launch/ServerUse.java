package io.regatta.fleet.launch;

import java.util.List;
import java.util.function.Consumer;

/** A watch that notifies a launcher when the trainers of other machines have left the servers that it has started. */
public interface ServerUse {

  /** Servers that are asked repeatedly. */
  interface Asking extends AutoCloseable {
    /** Ends it. Blocks until that is done. */
    @Override
    void close();
  }

  /**
   * Begins to ask.
   *
   * @param servers {@code host:port} of those of this machine
   * @param rendezvous that of the job, if it is at one of them; else empty
   * @param told gets lines for the user; any thread
   * @param over called once, when no trainer holds a job there any more; any thread
   */
  Asking begin(List<String> servers, String rendezvous, Consumer<String> told, Runnable over);
}
