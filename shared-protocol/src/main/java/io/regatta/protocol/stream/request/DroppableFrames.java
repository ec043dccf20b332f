package io.regatta.protocol.stream.request;

import io.regatta.protocol.stream.frame.Outgoing;
import java.util.Iterator;

/** The frames of a message that hold memory or a budget until they have been made. Owned by the stream's loop. */
public interface DroppableFrames extends Iterator<Outgoing> {

  /** Releases everything that has not been sent; no frame is made any more. */
  void drop();
}
