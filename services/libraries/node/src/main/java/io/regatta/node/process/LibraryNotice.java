package io.regatta.node.process;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import io.regatta.protocol.connection.PeerLog;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receiver of warnings of Vert.x and Netty, in {@code regatta-logback.xml}. Any process that reaches a port can cause
 * such lines, e.g. by sending rubbish, so each of their classes has a {@link PeerLog} of its own. Logback calls it
 * under its lock.
 */
public final class LibraryNotice extends AppenderBase<ILoggingEvent> {

  private static final Logger LOG = LoggerFactory.getLogger(LibraryNotice.class);

  /** Logs by the name of the library's class: the number of these is limited. */
  private final Map<String, PeerLog> kinds = new HashMap<>();

  @Override
  protected void append(ILoggingEvent event) {
    String name = event.getLoggerName();
    PeerLog log = kinds.computeIfAbsent(name, n -> new PeerLog(LOG));
    if (event.getThrowableProxy() instanceof ThrowableProxy fault) {
      log.error(name + ": " + event.getFormattedMessage(), fault.getThrowable());
    } else {
      log.warn("{}: {}", name, event.getFormattedMessage());
    }
  }
}
