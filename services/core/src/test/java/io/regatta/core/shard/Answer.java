package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.BiConsumer;

/** What a shard answered to a request, if it has. */
final class Answer<T> implements BiConsumer<T, Throwable> {
  T value;
  Throwable error;

  @Override
  public void accept(T value, Throwable error) {
    assertThat(this.value == null && this.error == null).as("completed once").isTrue();
    this.value = value;
    this.error = error;
  }
}
