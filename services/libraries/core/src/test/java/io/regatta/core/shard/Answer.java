package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.BiConsumer;

/** The answer of a shard to a request, if there is one. */
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
