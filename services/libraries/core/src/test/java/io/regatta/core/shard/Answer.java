package io.regatta.core.shard;

import java.util.concurrent.CompletionStage;

/** The answer of a shard to a request, if there is one. */
final class Answer<T> {
  final CompletionStage<T> request;
  T value;
  Throwable error;

  private Answer(CompletionStage<T> request) {
    this.request = request;
  }

  static <T> Answer<T> to(CompletionStage<T> request) {
    Answer<T> answer = new Answer<>(request);
    request.whenComplete((v, e) -> {
      answer.value = v;
      answer.error = e;
    });
    return answer;
  }
}
