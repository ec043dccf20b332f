/**
 * The load tests of a model's service over HTTP, beside a server of the same network on onnxruntime. The door to the
 * load tests calls their driver.
 */
package io.regatta.load.serve;
