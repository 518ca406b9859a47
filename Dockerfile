# A service that learns. Build and run:
#   docker build -t rosenblatt .
#   docker run -p 127.0.0.1:8080:8080 -v rosenblatt:/models rosenblatt \
#     /models/spam.safetensors --learn --new spam,ham --features subject:text,hour --no-token
FROM python:3.12.8-slim-bookworm
RUN useradd --create-home --uid 1000 rosenblatt && install -d -o rosenblatt /models
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
COPY proofs /source/proofs
RUN pip install --no-cache-dir '/source[serve]' && rm -r /source
USER rosenblatt
ENV NUMBA_CACHE_DIR=/home/rosenblatt/numba
# Kernels are compiled now, not before the first answer.
RUN python -m rosenblatt.shell.warm
VOLUME /models
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/readyz')"]
ENTRYPOINT ["rosenblatt", "serve", "--host", "0.0.0.0"]
CMD ["/models/model.safetensors", "--learn", "--token-file", "/run/secrets/token"]
