# A service that learns. Build and run:
#   docker build -t rosenblatt .
#   docker run -p 127.0.0.1:8080:8080 -v "$PWD/models:/models" rosenblatt \
#     /models/model.safetensors --learn --no-token
FROM python:3.12.8-bookworm AS build
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
COPY library /source/library
COPY proofs /source/proofs
# The kernels are compiled here, for every x86-64 or ARM processor.
RUN ROSENBLATT_BUILD=everywhere pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.12.8-slim-bookworm
RUN useradd --create-home --uid 1000 rosenblatt && install -d -o rosenblatt /models
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/*.whl)[serve]" && rm -r /wheels
USER rosenblatt
VOLUME /models
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/readyz')"]
ENTRYPOINT ["rosenblatt", "serve", "--host", "0.0.0.0"]
CMD ["/models/model.safetensors", "--learn", "--token-file", "/run/secrets/token"]
