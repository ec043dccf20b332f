package io.regatta.fleet.launch;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import org.junit.jupiter.api.Test;

class LauncherLinkTest {

  @Test
  void when_two_services_have_work_to_finish_then_both_are_waited_for_until_they_are_closed() {
    Promise<Void> first = Promise.promise();
    Promise<Void> second = Promise.promise();
    Runnable firstOver = LauncherLink.finishesFirst(first::future);
    Runnable secondOver = LauncherLink.finishesFirst(second::future);
    Future<?> both = LauncherLink.finished();
    second.complete();
    assertThat(both.isComplete()).as("the first one has not finished").isFalse();
    secondOver.run();
    Future<?> left = LauncherLink.finished();
    assertThat(left.isComplete()).as("nor is it forgotten with the second").isFalse();
    firstOver.run();
    assertThat(LauncherLink.finished().succeeded()).as("none is kept").isTrue();
    first.complete();
    assertThat(both.succeeded() && left.succeeded()).isTrue();
  }
}
