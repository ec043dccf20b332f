package io.regatta.collective;

import io.regatta.core.collective.Tensor;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.protocol.rank.CollectiveReceiver;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.tensor.CollectiveElements;
import io.regatta.protocol.tensor.CollectiveFailed;
import io.regatta.protocol.tensor.CollectiveOpen;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * The streams that other ranks have opened at a port and whose generation is not formed here yet. They wait for a
 * limited time, because their openers wait. Owned by the port's loop.
 */
final class Arrivals {
  private static final int MAX = 4096;

  private final Loop loop;
  private final String endpoint;
  private final long patienceMillis;
  private final Tensor.Workspace workspace;
  private final Function<CollectiveOpen, Mesh> generations;
  private final Set<Arrival> waiting = new LinkedHashSet<>();

  /**
   * @param endpoint of the port, for messages
   * @param patienceMillis how long a generation may take to be formed here
   * @param generations returns the one that a stream's first message is for, null if it is not formed yet; refuses a
   *     late one by a {@link RegattaException}
   */
  Arrivals(Loop loop, String endpoint, long patienceMillis, Tensor.Workspace workspace,
      Function<CollectiveOpen, Mesh> generations) {
    this.loop = loop;
    this.endpoint = endpoint;
    this.patienceMillis = patienceMillis;
    this.workspace = workspace;
    this.generations = generations;
  }

  /** Accepts a stream that another rank has opened; its first message names the rank. */
  void accept(TensorStream stream) {
    if (waiting.size() >= MAX) {
      stream.fail(new Overloaded("rank at " + endpoint + ": " + MAX + " streams of others wait for generations "
          + "that are not formed here; join again later"));
      return;
    }
    new Arrival(stream).begin();
  }

  /** Passes waiting streams to a generation that has just been formed. */
  void place() {
    List.copyOf(waiting).forEach(Arrival::place);
  }

  /** Refuses all waiting streams: no generation will be formed here any more. */
  void refuse(RegattaException why) {
    List.copyOf(waiting).forEach(arrival -> arrival.refuse(why));
  }

  /** One waiting stream. */
  private final class Arrival implements CollectiveReceiver.Listener {
    private final TensorStream stream;
    private final CollectiveReceiver receiver = new CollectiveReceiver(this, workspace);
    private CollectiveOpen opened;
    private Timer timer = Timer.NONE;

    Arrival(TensorStream stream) {
      this.stream = stream;
    }

    void begin() {
      waiting.add(this);
      timer = loop.after(patienceMillis, () -> refuse(new PeerLost("the rank at " + endpoint + (opened == null
          ? " has not received within " + patienceMillis + " ms the group that this stream is for"
          : " has not formed generation " + opened.getGeneration() + " of group " + opened.getGroup() + " within " + patienceMillis
              + " ms; join again"))));
      stream.exceptionHandler(e -> gone());
      stream.endHandler(v -> {
        gone();
        stream.end();
      });
      stream.receiver(receiver);
    }

    private void gone() {
      waiting.remove(this);
      timer.cancel();
    }

    void refuse(RegattaException why) {
      gone();
      receiver.drop();
      stream.fail(why);
    }

    @Override
    public void opened(CollectiveOpen by) {
      opened = by;
      stream.pause();
      place();
    }

    @Override
    public void failed(CollectiveFailed why) {
      throw notOpened();
    }

    /** Passes the stream to its generation, if that is formed. */
    void place() {
      if (opened == null) {
        return;
      }
      try {
        Mesh mesh = generations.apply(opened);
        if (mesh != null) {
          gone();
          mesh.link(opened.getRank()).stream().answer(stream, receiver, opened);
        }
      } catch (RegattaException why) {
        refuse(why);
      }
    }

    private InvalidInput notOpened() {
      return new InvalidInput("a stream between ranks begins with COLLECTIVE_OPEN");
    }

    @Override
    public CollectiveReceiver.Target begin(CollectiveElements elements) {
      throw notOpened();
    }

    @Override
    public void taken() {
      throw notOpened();
    }
  }
}
