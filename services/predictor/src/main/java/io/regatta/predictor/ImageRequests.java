package io.regatta.predictor;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.SlotBatch;
import io.regatta.data.image.EncodedImage;
import io.regatta.data.image.ImageInput;
import io.regatta.predictor.Predictor.Prediction;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * Requests of encoded images. They are decoded on two threads named {@code regatta-predictor-images}, one image at a
 * time each, and then wait for the model as all others do. Any thread.
 */
final class ImageRequests {

  private static final int THREADS = 2;

  private final WorkerExecutor decoding;
  private final Predictor predictor;
  private final ImageInput input;
  private final long maxPixels;

  /** @param maxPixels of an image; larger ones are refused before they are decoded */
  ImageRequests(Vertx vertx, Predictor predictor, ImageInput input, long maxPixels) {
    this.predictor = predictor;
    this.input = input;
    this.maxPixels = maxPixels;
    decoding = vertx.createSharedWorkerExecutor("regatta-predictor-images-" + UUID.randomUUID(), THREADS);
  }

  /**
   * Predicts images.
   *
   * @param images JPEG, PNG, GIF or BMP; or the base64 text of one
   * @return failed with {@code InvalidInput} if one is none, or too large; cancelling it withdraws the request
   */
  CompletableFuture<Prediction> predict(List<byte[]> images) {
    CompletableFuture<Prediction> result = new CompletableFuture<>();
    decoding.<Void>executeBlocking(() -> {
      if (!result.isDone()) {
        CompletableFuture<Prediction> predicting = predictor.predict(decode(images));
        result.whenComplete((prediction, error) -> predicting.cancel(false));
        predicting.whenComplete((prediction, error) -> {
          if (error != null) {
            result.completeExceptionally(error);
          } else {
            result.complete(prediction);
          }
        });
      }
      return null;
    }, false).onFailure(result::completeExceptionally);
    return result;
  }

  private SlotBatch decode(List<byte[]> images) {
    SlotBatch batch = SlotBatch.allocate(predictor.layout(), images.size());
    Arrays.fill(batch.labels(), Float.NaN);
    for (int i = 0; i < images.size(); i++) {
      try {
        input.write(EncodedImage.decode(plain(images.get(i)), maxPixels), batch.dense(), i * predictor.layout()
            .dense());
      } catch (InvalidInput e) {
        throw new InvalidInput("request, image " + (i + 1) + " " + e.getMessage(), e);
      }
    }
    return batch;
  }

  /**
   * Returns the bytes of an image that is given as base64; others as they are. Encoded images begin with other bytes.
   */
  private static byte[] plain(byte[] image) {
    for (byte b : image) {
      boolean base64 = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '+' || b == '/'
          || b == '=';
      if (!base64) {
        return image;
      }
    }
    try {
      return Base64.getDecoder().decode(image);
    } catch (IllegalArgumentException e) {
      return image;
    }
  }

  Future<Void> close() {
    return decoding.close();
  }
}
