package io.regatta.collective;

import io.regatta.core.collective.schedule.Step;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.rank.CollectiveFrames;
import io.regatta.protocol.rank.CollectiveReceiver;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.tensor.CollectiveCall;
import io.regatta.protocol.tensor.CollectiveElements;
import io.vertx.core.Future;
import java.util.ArrayDeque;

/**
 * The messages that one rank has to send to another and to receive from it, in the order of calls and of their steps,
 * over the {@link PeerStream} between the two. A message is sent when the step that it waits for is done and the stream
 * has room. The stream is read when the next message from the peer may be taken, and held back otherwise, so that no
 * unrequested message is kept here. Owned by the rank's loop.
 */
final class Link {

  /** A step of a call. */
  private record Pending(CollectiveRun run, int index) {
    Step step() {
      return run.step(index);
    }

    boolean isReady() {
      return run.isReady(index);
    }
  }

  private final Mesh owner;
  private final int peer;
  private final PeerStream stream;
  private final ArrayDeque<Pending> sends = new ArrayDeque<>();
  private final ArrayDeque<Pending> receives = new ArrayDeque<>();
  private boolean pumping;
  private boolean again;

  /** @param opener whether this rank opens the stream */
  Link(Mesh owner, int peer, boolean opener) {
    this.owner = owner;
    this.peer = peer;
    this.stream = new PeerStream(owner, this, peer, opener);
  }

  int peer() {
    return peer;
  }

  PeerStream stream() {
    return stream;
  }

  /** Returns true if no call needs this peer. */
  boolean isIdle() {
    return sends.isEmpty() && receives.isEmpty();
  }

  void add(CollectiveRun run, int index) {
    if (stream.peerClosed()) {
      owner.fail(stream.closedTooEarly());
      return;
    }
    (run.step(index).sends() ? sends : receives).add(new Pending(run, index));
  }

  /** Returns true if a call that needs this peer waits for it now: for a message of its own, or for it to take one. */
  boolean waitsFor(CollectiveRun run) {
    return stream.isLent() || isNext(run, receives.peek()) || isNext(run, sends.peek());
  }

  private static boolean isNext(CollectiveRun run, Pending next) {
    return next != null && next.run == run && next.isReady();
  }

  /** Sends and reads as far as possible. */
  void pump() {
    if (!stream.isUsable()) {
      return;
    }
    if (pumping) {
      again = true;
      return;
    }
    pumping = true;
    try {
      do {
        again = false;
        for (Pending next = sends.peek(); next != null && next.isReady() && !stream.isFull(); next = sends.peek()) {
          sends.poll();
          send(next);
          if (!stream.isUsable()) {
            return;
          }
        }
        stream.read(mayRead());
      } while (again && stream.isUsable());
    } finally {
      pumping = false;
    }
  }

  private boolean mayRead() {
    Pending next = receives.peek();
    return next == null ? leads() && owner.hasRoom() : next.isReady();
  }

  /** Returns true if an unexpected message from the peer begins a call: an aggregator learns of calls from rank 0. */
  private boolean leads() {
    return owner.follows() && peer == 0;
  }

  private void send(Pending pending) {
    Outgoing out;
    try {
      pending.run.begin(pending.index);
      out = CollectiveFrames.data(pending.run.call, pending.run.tensor, pending.step(), owner.workspace());
    } catch (RuntimeException | Error e) { // no memory for a frame
      owner.fail(ErrorMapping.regatta(e));
      return;
    }
    boolean ours = out.memory() != null || !out.frame().payload().hasRemaining();
    Future<Void> sent = stream.send(out);
    if (ours) {
      owner.done(pending.run, pending.index);
    } else {
      sent.onSuccess(done -> owner.done(pending.run, pending.index));
    }
  }

  /** Handles the beginning of the next message's elements; see {@link CollectiveReceiver.Listener#begin}. */
  CollectiveReceiver.Target begin(CollectiveElements elements) {
    CollectiveCall call = elements.getCall();
    if (receives.isEmpty() && stream.isOpen() && leads() && !follow(call)) {
      return null;
    }
    Pending next = receives.peek();
    if (next == null || !stream.isOpen()) {
      stream.refused(new InvalidInput(owner.where() + ": " + name(peer) + " sends "
          + CollectiveFrames.words(call) + ", which " + name(owner.rank()) + " takes no part in"));
      return null;
    }
    if (!call.equals(next.run.call)) {
      stream.refused(new InvalidInput(owner.where() + ": " + name(owner.rank()) + " has made "
          + CollectiveFrames.words(next.run.call) + ", but " + name(peer) + " "
          + CollectiveFrames.words(call) + CollectiveFrames.difference(next.run.call, call)));
      return null;
    }
    owner.coming();
    next.run.begin(next.index);
    return new CollectiveReceiver.Target(next.run.tensor, next.step(), next.run.op);
  }

  /** Takes part in the next call that the peer has made. Returns false if it is refused. */
  private boolean follow(CollectiveCall call) {
    try {
      owner.follow(call);
      return true;
    } catch (RuntimeException | Error why) { // no memory, too
      stream.refused(ErrorMapping.regatta(why));
      return false;
    }
  }

  private String name(int of) {
    return owner.ranks().name(of);
  }

  /** Handles the end of that message's elements. */
  void taken() {
    Pending taken = receives.poll();
    owner.done(taken.run, taken.index);
    if (stream.isUsable()) {
      stream.read(mayRead()); // at once, also from within a pump: the stream reads on when this returns
      pump();
    }
  }

  /** Ends the stream at once, and sends the peer the reason, which it may not read. */
  void abort(RegattaException why) {
    sends.clear();
    receives.clear();
    stream.abort(why);
  }
}
