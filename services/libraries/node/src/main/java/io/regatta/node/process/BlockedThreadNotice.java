package io.regatta.node.process;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receiver of the warnings of Vert.x's watchdog about blocked threads, in {@code regatta-logback.xml}. Logs one
 * sentence, once a minute at most, and the whole with the stack at DEBUG. Logback calls it under its lock.
 */
public final class BlockedThreadNotice extends AppenderBase<ILoggingEvent> {

  private static final Logger LOG = LoggerFactory.getLogger(BlockedThreadNotice.class);
  private static final Pattern BLOCKED = Pattern.compile("Thread (.*) has been blocked for (\\d+) ms");
  private static final long PAUSE_MILLIS = TimeUnit.MINUTES.toMillis(1);

  private long nextMillis = Long.MIN_VALUE;

  @Override
  protected void append(ILoggingEvent event) {
    Matcher blocked = BLOCKED.matcher(event.getFormattedMessage());
    if (!blocked.find()) { // not of this kind
      LOG.warn("{}", event.getFormattedMessage());
      return;
    }
    if (event.getTimeStamp() >= nextMillis) {
      nextMillis = event.getTimeStamp() + PAUSE_MILLIS;
      LOG.warn("{} has been blocked for {} ms: the machine is busy, or a call blocks the thread. REGATTA_LOG=DEBUG shows where; "
          + "this line comes once a minute at most", blocked.group(1), blocked.group(2));
    }
    if (event.getThrowableProxy() instanceof ThrowableProxy at) {
      LOG.debug(event.getFormattedMessage(), at.getThrowable());
    } else {
      LOG.debug("{}", event.getFormattedMessage());
    }
  }
}
